#pragma once
// A bound on memory that many hold at a time: bodies under way, answers that nobody has read.

#include <atomic>
#include <cstdint>

namespace tidemark {

/// Thread-safe.
class ByteBudget {
 public:
  explicit ByteBudget(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// Takes `bytes`, or nothing when that would pass the bound.
  bool TryTake(uint64_t bytes) {
    uint64_t taken = taken_;
    do {
      if (bytes > max_bytes_ || taken > max_bytes_ - bytes) return false;
    } while (!taken_.compare_exchange_weak(taken, taken + bytes));
    return true;
  }
  /// Gives back what was taken.
  void Give(uint64_t bytes) { taken_ -= bytes; }

  uint64_t taken() const { return taken_; }
  uint64_t max_bytes() const { return max_bytes_; }

 private:
  const uint64_t max_bytes_;
  std::atomic<uint64_t> taken_ = 0;
};

}  // namespace tidemark
