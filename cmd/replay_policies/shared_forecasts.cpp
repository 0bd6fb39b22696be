#include "cmd/replay_policies/shared_forecasts.h"

#include <algorithm>
#include <array>
#include <limits>

namespace tidemark::replay_policies {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

}  // namespace

void SharedForecasts::Remembered::Reset(const scaling::DemandForecast& of) {
  of_ = &of;
  expected_.clear();
  quantiles_.clear();
  high_water_.clear();
}

std::optional<double> SharedForecasts::Remembered::Expected(std::optional<ForecastModel> model,
                                                            int32_t minutes) const {
  for (const ExpectedAnswer& known : expected_) {
    if (known.model == model && known.minutes == minutes) return known.demand;
  }
  return expected_.emplace_back(ExpectedAnswer{model, minutes, of_->Expected(model, minutes)})
      .demand;
}

bool SharedForecasts::Remembered::Quantiles(int32_t minutes, std::span<const double> p,
                                            std::span<double> out) const {
  const auto found = std::ranges::find_if(quantiles_, [&](const QuantileAnswer& known) {
    return known.minutes == minutes && std::ranges::equal(known.p, p);
  });
  const QuantileAnswer* answer = nullptr;
  if (found != quantiles_.end()) {
    answer = &*found;
  } else {
    QuantileAnswer fresh{minutes, {p.begin(), p.end()}, std::vector<double>(p.size())};
    if (!of_->Quantiles(minutes, p, fresh.demands)) fresh.demands.clear();
    answer = &quantiles_.emplace_back(std::move(fresh));
  }
  if (answer->demands.size() != p.size()) return false;
  std::ranges::copy(answer->demands, out.begin());
  return true;
}

std::optional<double> SharedForecasts::Remembered::HighWater(double risk) const {
  for (const auto& [known, demand] : high_water_) {
    if (known == risk) return demand;
  }
  return high_water_.emplace_back(risk, of_->HighWater(risk)).second;
}

SharedForecasts::SharedForecasts(scaling::ForecastSource& source, int64_t first_minute,
                                 size_t minutes, int32_t lead_minutes)
    : source_(source), first_minute_(first_minute), lead_minutes_(lead_minutes) {
  if (lead_minutes_ > 0) bands_.assign(minutes, {kNothing, kNothing, kNothing});
}

const scaling::DemandForecast& SharedForecasts::At(int64_t minute, double demand) {
  now_.Reset(source_.At(minute, demand));
  const int64_t place = minute - first_minute_;
  if (place >= 0 && place < static_cast<int64_t>(bands_.size())) {
    ExpectedBand& band = bands_[static_cast<size_t>(place)];
    if (const auto expected = now_.Expected(std::nullopt, lead_minutes_)) {
      band.expected = static_cast<float>(*expected);
    }
    constexpr std::array kEnds = {(1 - kBandRatio) / 2, (1 + kBandRatio) / 2};
    std::array<double, 2> ends{};
    if (now_.Quantiles(lead_minutes_, kEnds, ends)) {
      band.lower = static_cast<float>(std::max(0.0, ends[0]));
      band.upper = static_cast<float>(ends[1]);
    }
  }
  return now_;
}

}  // namespace tidemark::replay_policies
