#pragma once
// Where random tests begin.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>

namespace tidemark::testing {

inline constexpr uint32_t kUsualSeed = 20'261'202;

/// kUsualSeed each time, so that what is green on one machine is green on another;
/// TIDEMARK_TEST_SEED gives another one, and `random` a new one each time, as `scripts/test --long`
/// asks. Tests print it when they fail.
inline uint32_t Seed() {
  const char* const text = std::getenv("TIDEMARK_TEST_SEED");  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr || *text == '\0') return kUsualSeed;
  if (std::string_view(text) == "random") return std::random_device{}();
  return static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace tidemark::testing
