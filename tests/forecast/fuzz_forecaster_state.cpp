// Restore of every model on any bytes: what it takes it forecasts with, finite and not negative,
// and saves again as it came; what it refuses leaves it as it was.
//
// First byte: the model; second: which horizons; the rest is what Save would have written.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecaster.h"

namespace {

using namespace tidemark;
using namespace tidemark::forecast;

const DemandHistory& History() {
  static const DemandHistory history = [] {
    DemandHistory made;
    for (int64_t i = 0; i < 8 * 1440; ++i) {
      if (i % 977 == 5) continue;  // short gaps
      made.Put(20'000 * 1440LL + i,
               20 + 10 * std::sin(static_cast<double>(i) / 229) + static_cast<double>(i % 7));
    }
    return made;
  }();
  return history;
}

std::string Saved(const Forecaster& model) {
  std::string bytes;
  ByteWriter out(bytes);
  model.Save(out);
  return bytes;
}

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  constexpr std::array<int32_t, 4> kOthers = {2, 5, 15, 60};
  const auto model = static_cast<ForecastModel>(data[0] % kForecastModelCount);
  const Horizons horizons = data[1] % 2 == 0 ? Horizons() : Horizons(kOthers);
  const auto made = MakeForecaster(model, horizons);
  const std::string before = Saved(*made);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  ByteReader in(bytes);
  if (!made->Restore(in)) {
    Check(Saved(*made) == before);
    return 0;
  }
  Check(!in.failed());
  const std::string saved = Saved(*made);
  const auto again = MakeForecaster(model, horizons);
  ByteReader second(saved);
  Check(again->Restore(second).has_value() && second.AtEnd());
  Check(Saved(*again) == saved);
  std::vector<double> out(horizons.size());
  for (int64_t back = 0; back < 3; ++back) {
    if (!made->Forecast(History(), History().newest() - back, out)) continue;
    for (const double value : out) Check(value >= 0 && std::isfinite(value));
  }
  return 0;
}
