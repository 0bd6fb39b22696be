#pragma once
// Memory for texts that must stay where they are until a request has been applied.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace tidemark::remote_write {

/// Hands out copies that keep their address until Clear. Not thread-safe. Holds the bytes put in,
/// rounded up to chunks.
class ByteArena {
 public:
  /// What Clear keeps.
  static constexpr size_t kChunkBytes = 64 << 10;

  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    if (next_ == nullptr || text.size() > left_) Grow(text.size());
    std::memcpy(next_, text.data(), text.size());
    const std::string_view copy(next_, text.size());
    next_ += text.size();
    left_ -= text.size();
    return copy;
  }

  void Clear() {
    if (chunks_.empty()) return;
    chunks_.resize(1);
    next_ = chunks_.front().get();
    left_ = kChunkBytes;
  }

 private:
  void Grow(size_t wanted) {
    // The first chunk, which Clear keeps, always has the usual size.
    if (chunks_.empty() && wanted > kChunkBytes) AddChunk(kChunkBytes);
    AddChunk(std::max(wanted, kChunkBytes));
  }
  void AddChunk(size_t size) {
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = chunks_.back().get();
    left_ = size;
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace tidemark::remote_write
