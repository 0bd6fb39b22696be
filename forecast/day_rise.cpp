#include "forecast/day_rise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "forecast/look_back.h"
#include "forecast/plain_forecaster.h"

namespace tidemark::forecast {
namespace {

// Both ends of yesterday's rise are means over so many minutes on both sides: on our traces two
// have the smallest error at three and ten minutes, and hardly more than one has at one.
constexpr int64_t kHalfWidth = 2;

double MeanAround(const DemandHistory& history, int64_t minute) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t at = minute - kHalfWidth; at <= minute + kHalfWidth; ++at) {
    const float value = history.At(at);
    if (std::isnan(value)) continue;
    sum += double{value};
    ++count;
  }
  return sum / static_cast<double>(count);  // NaN where nothing is known
}

class DayRise final : public PlainForecaster {
 public:
  explicit DayRise(const Horizons& horizons) : horizons_(horizons) {}

  ForecastModel model() const override { return ForecastModel::kDayRise; }
  int32_t look_back() const override { return static_cast<int32_t>(kMinutesADay + kHalfWidth + 1); }
  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override {
    const auto last = ReadLast(history, now);
    const double before = MeanAround(history, now - kMinutesADay);
    if (!last || std::isnan(before)) return false;
    std::array<double, kMaxForecastHorizons> rise{};
    for (size_t i = 0; i < horizons_.size(); ++i) {
      rise[i] = MeanAround(history, now - kMinutesADay + horizons_[i]) - before;
      if (std::isnan(rise[i])) return false;
    }
    for (size_t i = 0; i < horizons_.size(); ++i) out[i] = std::max(0.0, *last + rise[i]);
    return true;
  }
  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  Horizons horizons_;
};

}  // namespace

std::unique_ptr<Forecaster> MakeDayRise(const Horizons& horizons) {
  return std::make_unique<DayRise>(horizons);
}

}  // namespace tidemark::forecast
