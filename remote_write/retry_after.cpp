#include "remote_write/retry_after.h"

#include <algorithm>
#include <charconv>

namespace tidemark::remote_write {
namespace {

/// SplitMix64 (Steele, Lea and Flood, 2014): the n-th number of a seed without any state but n.
uint64_t SplitMix64(uint64_t seed, uint64_t n) {
  uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

unsigned AttemptNumber(std::string_view text) {
  unsigned number = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return UINT32_MAX;
  if (error != std::errc() || end != text.data() + text.size()) return 1;
  return std::max(number, 1U);
}

}  // namespace

unsigned RetryAfter::Seconds(std::string_view attempt) {
  const unsigned doublings = std::min(AttemptNumber(attempt) - 1, 4U);
  const unsigned seconds = std::min(kFirstSeconds << doublings, kMostSeconds);
  if (!seed_) return seconds;
  const unsigned half = seconds / 2;
  return seconds - static_cast<unsigned>(SplitMix64(*seed_, drawn_.fetch_add(1)) % (half + 1));
}

}  // namespace tidemark::remote_write
