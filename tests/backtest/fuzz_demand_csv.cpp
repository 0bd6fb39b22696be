// Any bytes as a demand of CSV: read or refused, and what is read is finite and in order.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cmd/backtest/demand_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::backtest;  // NOLINT(google-build-using-namespace)
  const auto demand =
      ParseDemandCsv(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.csv");
  if (!demand) {
    if (demand.error().message.find("fuzz.csv") != 0) std::abort();
    return 0;
  }
  const auto& minutes = demand->minutes;
  if (minutes.first < 0 || minutes.values.empty() ||
      static_cast<int64_t>(minutes.values.size()) > kMaxDemandMinutes) {
    std::abort();
  }
  for (const double value : minutes.values) {
    if (!std::isnan(value) && !(value >= 0 && std::isfinite(value))) std::abort();
  }
  return 0;
}
