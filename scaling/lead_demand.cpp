#include "scaling/lead_demand.h"

#include <algorithm>
#include <cmath>

namespace tidemark::scaling {
namespace {

using forecast::ErrorSketch;

bool IsDemand(double value) { return std::isfinite(value) && value >= 0; }

bool QuantilesOf(const DemandForecast& forecast, LeadMinutesAhead ahead,
                 DemandOdds::Quantiles& highest) {
  highest.fill(0);
  DemandOdds::Quantiles of_minute{};
  for (int32_t minutes = ahead.first; minutes <= ahead.last; ++minutes) {
    if (!forecast.Quantiles(minutes, DemandOdds::kProbabilities, of_minute)) return false;
    for (size_t i = 0; i < highest.size(); ++i) {
      if (!IsDemand(of_minute[i])) return false;
      highest[i] = std::max(highest[i], of_minute[i]);
    }
  }
  return true;
}

}  // namespace

std::optional<LeadDemand::Made> LeadDemand::Expect(const DemandForecast& forecast,
                                                   LeadMinutesAhead ahead) const {
  double highest = 0;
  for (int32_t minutes = ahead.first; minutes <= ahead.last; ++minutes) {
    const auto expected = forecast.Expected(std::nullopt, minutes);
    if (!expected || !IsDemand(*expected)) return std::nullopt;
    highest = std::max(highest, *expected);
  }
  return Made{.expected = static_cast<float>(std::min(highest, 1e30)),
              .scale = errors_.HasScale() ? static_cast<float>(errors_.Scale()) : -1.0F};
}

void LeadDemand::Came(const Made& made, double highest) {
  errors_.Note(static_cast<float>(highest) - made.expected, made.scale);
  if (at_this_lead_ < ErrorSketch::kLeastErrors) ++at_this_lead_;
}

void LeadDemand::PassMinute(int64_t minute) {
  const int64_t half = minute / ErrorSketch::kHalvingMinutes;
  // A gap of days: what is older than eight halvings is next to nothing.
  if (halved_ >= 0) {
    for (int64_t i = std::min<int64_t>(half - halved_, 8); i > 0; --i) errors_.Halve();
  }
  halved_ = half;
}

std::optional<DemandOdds> LeadDemand::Odds(const DemandForecast& forecast,
                                           LeadMinutesAhead ahead) const {
  const auto made = errors_.IsEnough() ? Expect(forecast, ahead) : std::nullopt;
  const bool is_settled = at_this_lead_ >= ErrorSketch::kLeastErrors;
  DemandOdds::Quantiles quantiles{};
  const bool is_told = (!made || !is_settled) && QuantilesOf(forecast, ahead, quantiles);
  if (made) {
    DemandOdds::Quantiles errors{};
    errors_.Quantiles(DemandOdds::kProbabilities, errors);
    for (size_t i = 0; i < errors.size(); ++i) {
      const double demand = std::max(0.0, double{made->expected} + errors_.Scale() * errors[i]);
      quantiles[i] = is_told ? std::max(quantiles[i], demand) : demand;
    }
  } else if (!is_told) {
    return std::nullopt;
  }
  return DemandOdds(quantiles);
}

void LeadDemand::Save(ByteWriter& out) const {
  errors_.Save(out);
  out.Signed(halved_);
  out.Byte(at_this_lead_);
}

void LeadDemand::Restore(ByteReader& in) {
  errors_.Restore(in);
  halved_ = in.Signed();
  at_this_lead_ = in.Byte();
  if (halved_ < -1 || at_this_lead_ > ErrorSketch::kLeastErrors) in.Fail();
  if (in.failed()) *this = LeadDemand();
}

}  // namespace tidemark::scaling
