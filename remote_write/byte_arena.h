#pragma once
// Memory for texts that must stay where they are until a request has been applied.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace tidemark::remote_write {

/// Hands out bytes that keep their address until Clear. Not thread-safe. Holds the bytes put in,
/// rounded up to chunks.
class ByteArena {
 public:
  static constexpr size_t kChunkBytes = 64 << 10;

  /// Clear keeps at most `kept_bytes`, in whole chunks of the usual size; one of these at least.
  explicit ByteArena(size_t kept_bytes = kChunkBytes)
      : kept_chunks_(std::max<size_t>(kept_bytes / kChunkBytes, 1)) {}

  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    std::memcpy(Reserve(text.size()), text.data(), text.size());
    return Take(text.size());
  }

  /// At least `size` bytes to be written to, until the next call.
  char* Reserve(size_t size) {
    if (next_ == nullptr || size > left_) Grow(size);
    return next_;
  }
  /// Keeps the first `size` bytes of those that Reserve has given.
  std::string_view Take(size_t size) {
    const std::string_view taken(next_, size);
    next_ += size;
    left_ -= size;
    return taken;
  }

  void Clear() {
    large_.clear();
    if (usual_.size() > kept_chunks_) usual_.resize(kept_chunks_);
    used_ = 0;
    next_ = nullptr;
    left_ = 0;
  }

 private:
  void Grow(size_t wanted) {
    if (wanted > kChunkBytes) {
      large_.push_back(std::make_unique_for_overwrite<char[]>(wanted));
      next_ = large_.back().get();
      left_ = wanted;
      return;
    }
    if (used_ == usual_.size()) {
      usual_.push_back(std::make_unique_for_overwrite<char[]>(kChunkBytes));
    }
    next_ = usual_[used_++].get();
    left_ = kChunkBytes;
  }

  size_t kept_chunks_;
  std::vector<std::unique_ptr<char[]>> usual_;
  size_t used_ = 0;  // of usual_
  std::vector<std::unique_ptr<char[]>> large_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace tidemark::remote_write
