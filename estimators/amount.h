#pragma once
// Whole amounts of a resource - millicores of CPU, bytes of memory - as the Kubernetes Vertical Pod
// Autoscaler (VPA 1.8) computes them, so that our requests are the same whole numbers.
//
// An amount is an int64_t from 0 to kMaxAmount. All functions are pure, total and thread-safe.

#include <cstdint>

namespace tidemark::estimators {

/// The largest amount there is, also in VPA (100 T bytes, 100 G cores).
inline constexpr int64_t kMaxAmount = 100'000'000'000'000;

/// `value` cut to a whole amount: truncated toward zero, at most kMaxAmount, at least 0.
/// NaN is 0 (VPA answers the smallest int64 there, which only its later maximum with the minimum
/// hides).
constexpr int64_t AmountFromDouble(double value) {
  if (value > static_cast<double>(kMaxAmount)) return kMaxAmount;
  if (value > 0) return static_cast<int64_t>(value);
  return 0;  // negative or NaN
}

/// `amount` times `factor`, cut to a whole amount.
constexpr int64_t ScaleAmount(int64_t amount, double factor) {
  return AmountFromDouble(static_cast<double>(amount) * factor);
}

/// `amount` plus the margin `ratio` of it, the margin being truncated to a whole amount first. Not
/// cut again: at most `amount` + kMaxAmount. A negative or NaN ratio is no margin.
constexpr int64_t AddMargin(int64_t amount, double ratio) {
  return amount + ScaleAmount(amount, ratio);
}

}  // namespace tidemark::estimators
