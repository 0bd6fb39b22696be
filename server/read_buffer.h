#pragma once
// The bytes of a connection that have come and are not used yet.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace tidemark::server {

/// A contiguous buffer that grows by doubling up to a maximum and can be let go. Not thread-safe.
/// Views are valid until the next call that is not const.
class ReadBuffer {
 public:
  struct Space {
    char* data = nullptr;
    size_t size = 0;
  };

  bool empty() const { return begin_ == end_; }
  size_t size() const { return end_ - begin_; }
  std::string_view View() const { return {data_.get() + begin_, size()}; }

  /// Room behind the bytes; none when the buffer already holds `max_bytes` (which is the same in
  /// every call).
  Space Prepare(size_t max_bytes) {
    if (begin_ > 0 && capacity_ - end_ < capacity_ / 4) {
      std::memmove(data_.get(), data_.get() + begin_, size());
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == capacity_) Grow(std::min(std::max(kFirstBytes, capacity_ * 2), max_bytes));
    return {data_.get() + end_, capacity_ - end_};
  }
  /// The first `bytes` of the room have been filled.
  void Commit(size_t bytes) { end_ += bytes; }
  /// The first `bytes` have been used.
  void Consume(size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  /// Lets the memory go if it has grown and holds nothing, so that idle connections are small.
  void Shrink() {
    if (!empty() || capacity_ <= kFirstBytes) return;
    data_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr size_t kFirstBytes = 4096;

  void Grow(size_t capacity) {
    if (capacity <= capacity_) return;
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (!empty()) std::memcpy(larger.get(), data_.get() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
    data_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace tidemark::server
