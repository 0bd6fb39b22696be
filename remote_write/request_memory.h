#pragma once
// The memory that one request takes besides its body, booked with the budget of all.

#include <cstdint>

#include "model/byte_budget.h"

namespace tidemark::remote_write {

/// Not thread-safe. Gives everything back when it goes.
class RequestMemory {
 public:
  /// `budget` must outlive it; null: nothing is booked. `body_bytes` is what the request's body has
  /// booked there already.
  RequestMemory(ByteBudget* budget, uint64_t body_bytes)
      : budget_(budget), body_bytes_(body_bytes) {}
  ~RequestMemory() {
    if (budget_ != nullptr) budget_->Give(booked_bytes_);
  }
  RequestMemory(const RequestMemory&) = delete;
  RequestMemory& operator=(const RequestMemory&) = delete;

  /// False when there is no room. A request that is alone always has room: it would find no more of
  /// it at any later time, and would be sent again for ever.
  bool Take(uint64_t bytes) {
    if (budget_ == nullptr) return true;
    if (budget_->TryTake(bytes)) {
      booked_bytes_ += bytes;
      return true;
    }
    return budget_->taken() <= body_bytes_ + booked_bytes_;
  }

 private:
  ByteBudget* budget_;
  uint64_t body_bytes_;
  uint64_t booked_bytes_ = 0;
};

}  // namespace tidemark::remote_write
