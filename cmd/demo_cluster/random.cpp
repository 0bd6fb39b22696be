#include "cmd/demo_cluster/random.h"

namespace tidemark::demo_cluster {
namespace {

constexpr uint64_t kGamma = 0x9e3779b97f4a7c15ULL;

uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

double ToUnit(uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1.0p-53; }

}  // namespace

uint64_t Random::Next() {
  state_ += kGamma;
  return Mix(state_);
}

double Random::Uniform() { return ToUnit(Next()); }

double Random::Uniform(double low, double high) { return low + (high - low) * Uniform(); }

double Random::Normal() {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += Uniform();
  // Four uniforms have mean 2 and variance 1/3.
  return (sum - 2) * 1.7320508075688772;
}

std::string Random::Text(std::string_view alphabet, size_t length) {
  std::string text(length, alphabet.front());
  for (char& c : text) c = alphabet[Next() % alphabet.size()];
  return text;
}

double HashToUnit(uint64_t seed, uint64_t a, uint64_t b) {
  return ToUnit(Mix(Mix(Mix(seed + kGamma) + a + kGamma) + b + kGamma));
}

}  // namespace tidemark::demo_cluster
