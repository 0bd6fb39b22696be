#pragma once
// Amounts of a resource in 16 bits each, for rings that keep one for every hour of a week.
//
// A code is a step on a logarithmic scale from 1e-6 to 1e15 - from a thousandth of a millicore to a
// petabyte - and stands for the upper end of its step: what is decoded is never below what was
// encoded, and at most 0.08 % above it. Codes are ordered as the amounts are, so that maxima and
// quantiles are taken of codes. Pure functions; thread-safe.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tidemark::estimators {

/// 0: nothing is known. 1: known, and no more than kLeastLevel.
using LevelCode = uint16_t;

inline constexpr LevelCode kUnknownLevel = 0;
inline constexpr LevelCode kNoLevel = 1;
inline constexpr double kLeastLevel = 1e-6;
inline constexpr double kGreatestLevel = 1e15;

/// The natural logarithm of one step: 21 powers of ten in what 16 bits leave.
inline constexpr double kLevelStep = 21 * 2.302585092994046 / (65535 - kNoLevel);

/// 0 for what is unknown or nothing.
inline double DecodeLevel(LevelCode code) {
  if (code <= kNoLevel) return 0;
  return kLeastLevel * std::exp(kLevelStep * (code - kNoLevel));
}

/// Of a finite amount; what is below 0 counts as 0, what is above kGreatestLevel as that.
inline LevelCode EncodeLevel(double level) {
  if (!(level > kLeastLevel)) return kNoLevel;
  const double steps =
      std::ceil(std::log(std::min(level, kGreatestLevel) / kLeastLevel) / kLevelStep);
  auto code = static_cast<LevelCode>(std::clamp(steps + kNoLevel, kNoLevel + 1.0, 65535.0));
  // The logarithm rounds; the promise does not.
  if (code < 65535 && DecodeLevel(code) < level) ++code;
  return code;
}

}  // namespace tidemark::estimators
