#pragma once
// Reproducible random numbers: splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014). The same seed gives the same numbers on every machine and library.

#include <cstdint>

namespace tidemark::forecast {

/// A value type, not thread-safe.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// In [0, 1), of 53 bits.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  /// In [0, count); of a count above 0. The bias is below count / 2^53.
  uint64_t Below(uint64_t count) {
    return static_cast<uint64_t>(Unit() * static_cast<double>(count));
  }

 private:
  uint64_t state_;
};

}  // namespace tidemark::forecast
