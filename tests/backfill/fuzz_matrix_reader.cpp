// Any bytes as the answer of a query, in pieces: no crash, the same verdict and the same series
// however it is cut, nothing beyond the limits. The first byte says how it is cut.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "backfill/matrix_reader.h"

namespace {

using namespace tidemark::backfill;

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

constexpr ReaderLimits kLimits = {.max_samples = 100, .max_series = 20, .max_text_bytes = 200};

bool Read(MatrixReader& reader, std::string_view text, size_t piece) {
  while (!text.empty()) {
    if (!reader.Feed(text.substr(0, piece))) break;
    text.remove_prefix(std::min(piece, text.size()));
  }
  return reader.Finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = size_t{data[0]} + 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  MatrixReader whole(kLimits);
  MatrixReader cut(kLimits);
  const bool good = Read(whole, text, std::string_view::npos);
  Require(Read(cut, text, piece) == good);
  Require(good == (whole.fault() == ReadFault::kNone));
  Require(good == whole.message().empty());
  const QueryAnswer& a = whole.answer();
  const QueryAnswer& b = cut.answer();
  Require(a.series.size() <= kLimits.max_series);
  Require(a.warnings.size() <= kMaxWarnings);
  if (!good) return 0;
  Require(a.samples <= kLimits.max_samples && a.samples == b.samples);
  Require(a.series.size() == b.series.size());
  uint64_t samples = 0;
  for (size_t i = 0; i < a.series.size(); ++i) {
    Require(a.series[i].labels == b.series[i].labels);
    Require(std::ranges::is_sorted(a.series[i].labels));
    Require(a.series[i].samples.size() == b.series[i].samples.size());
    for (size_t j = 0; j < a.series[i].samples.size(); ++j) {
      const auto& one = a.series[i].samples[j];
      const auto& other = b.series[i].samples[j];
      Require(one.timestamp_ms == other.timestamp_ms && one.timestamp_ms >= 0);
      Require(std::bit_cast<uint64_t>(one.value) == std::bit_cast<uint64_t>(other.value));
      ++samples;
    }
  }
  Require(samples <= a.samples);
  return 0;
}
