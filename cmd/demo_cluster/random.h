#pragma once
// A small deterministic generator: the same seed gives the same cluster on every machine and
// compiler, which the distributions of <random> do not promise.

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::demo_cluster {

/// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
/// Not thread-safe; not for secrets.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next();
  /// Uniform in [0, 1).
  double Uniform();
  /// Uniform in [low, high).
  double Uniform(double low, double high);
  /// About normal with mean 0 and deviation 1, within ±3.5 (a sum of four uniforms).
  double Normal();
  /// `length` characters out of `alphabet` (not empty).
  std::string Text(std::string_view alphabet, size_t length);

 private:
  uint64_t state_;
};

/// A number in [0, 1) that depends on its arguments alone.
double HashToUnit(uint64_t seed, uint64_t a, uint64_t b);

}  // namespace tidemark::demo_cluster
