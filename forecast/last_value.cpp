#include "forecast/last_value.h"

#include <algorithm>

#include "forecast/look_back.h"
#include "forecast/plain_forecaster.h"

namespace tidemark::forecast {
namespace {

class LastValue final : public PlainForecaster {
 public:
  ForecastModel model() const override { return ForecastModel::kLastValue; }
  int32_t look_back() const override { return 1; }
  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override {
    const auto last = ReadLast(history, now);
    if (!last) return false;
    std::fill(out.begin(), out.end(), *last);
    return true;
  }
  size_t MemoryBytes() const override { return sizeof(*this); }
};

}  // namespace

std::unique_ptr<Forecaster> MakeLastValue(const Horizons& /*horizons*/) {
  return std::make_unique<LastValue>();
}

}  // namespace tidemark::forecast
