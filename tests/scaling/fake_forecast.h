#pragma once
// A future that a test says, in the demand's unit.

#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "scaling/demand_forecast.h"

namespace tidemark::scaling {

class FakeForecast final : public DemandForecast {
 public:
  std::optional<double> expected;                ///< by the model in use
  std::map<ForecastModel, double> expected_by;   ///< by this one
  std::function<double(double p)> quantile;      ///< empty: not known
  std::optional<double> high_water;              ///< whatever the risk
  mutable std::optional<double> asked_risk;      ///< of the last HighWater
  mutable std::optional<int32_t> asked_minutes;  ///< of the last Expected
  forecast::DemandHistory history;

  std::optional<double> Expected(std::optional<ForecastModel> model,
                                 int32_t minutes) const override {
    asked_minutes = minutes;
    if (!model) return expected;
    const auto found = expected_by.find(*model);
    return found == expected_by.end() ? std::nullopt : std::optional(found->second);
  }
  bool Quantiles(int32_t /*minutes*/, std::span<const double> p,
                 std::span<double> out) const override {
    if (!quantile) return false;
    for (size_t i = 0; i < p.size(); ++i) out[i] = quantile(p[i]);
    return true;
  }
  std::optional<double> HighWater(double risk) const override {
    asked_risk = risk;
    return high_water;
  }
  const forecast::DemandHistory& History() const override { return history; }

  /// All of it is around this demand: the model's forecasts, quantiles within ± spread, a mark.
  void Surround(double demand, double spread) {
    expected = demand;
    for (size_t i = 0; i < kForecastModelCount; ++i) {
      expected_by[static_cast<ForecastModel>(i)] = demand;
    }
    quantile = [demand, spread](double p) { return demand * (1 + spread * (2 * p - 1)); };
    high_water = demand * (1 + spread);
  }
};

inline std::vector<PolicySettings> AllPolicies() {
  std::vector<PolicySettings> all;
  for (size_t i = 0; i < kScalingPolicyCount; ++i) {
    all.push_back(UsualSettings(static_cast<ScalingPolicy>(i)));
  }
  return all;
}

}  // namespace tidemark::scaling
