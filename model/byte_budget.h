#pragma once
// A bound on memory that many hold at a time: bodies under way, what they unpack to, answers that
// nobody has read.

#include <atomic>
#include <cstdint>

namespace tidemark {

/// Thread-safe. A budget may be a share of a larger one: what is taken here is taken there too, so
/// that one kind of memory can never take all of it.
class ByteBudget {
 public:
  /// `whole`, and `taken_now`, a gauge that follows taken(), may be null; else they must outlive
  /// the budget.
  explicit ByteBudget(uint64_t max_bytes, ByteBudget* whole = nullptr,
                      std::atomic<int64_t>* taken_now = nullptr)
      : max_bytes_(max_bytes), whole_(whole), taken_now_(taken_now) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  /// Takes `bytes`, or nothing when that would pass the bound.
  bool TryTake(uint64_t bytes) {
    uint64_t taken = taken_;
    do {
      if (!Fits(taken, bytes)) return false;
    } while (!taken_.compare_exchange_weak(taken, taken + bytes));
    if (whole_ != nullptr && !whole_->TryTake(bytes)) {
      taken_ -= bytes;
      return false;
    }
    if (taken_now_ != nullptr) *taken_now_ += static_cast<int64_t>(bytes);
    return true;
  }
  /// Gives back what was taken.
  void Give(uint64_t bytes) {
    taken_ -= bytes;
    if (whole_ != nullptr) whole_->Give(bytes);
    if (taken_now_ != nullptr) *taken_now_ -= static_cast<int64_t>(bytes);
  }
  /// Whether TryTake would succeed now. A moment later it may not.
  bool HasRoom(uint64_t bytes) const {
    return Fits(taken_, bytes) && (whole_ == nullptr || whole_->HasRoom(bytes));
  }

  uint64_t taken() const { return taken_; }
  uint64_t max_bytes() const { return max_bytes_; }

 private:
  bool Fits(uint64_t taken, uint64_t bytes) const {
    return bytes <= max_bytes_ && taken <= max_bytes_ - bytes;
  }

  const uint64_t max_bytes_;
  ByteBudget* const whole_;
  std::atomic<int64_t>* const taken_now_;
  std::atomic<uint64_t> taken_ = 0;
};

}  // namespace tidemark
