#include "scaling/hpa_policy.h"

#include <algorithm>

#include "scaling/replica_decision.h"

namespace tidemark::scaling {
namespace {

/// What four periods of growth make of `replicas`.
int64_t MostAfterAMinute(int32_t replicas) {
  int64_t most = replicas;
  for (int period = 0; period < 4; ++period) most += std::max<int64_t>(most, 4);
  return most;
}

std::optional<ForecastModel> ModelOf(ScalingPolicy policy) {
  switch (policy) {
    case ScalingPolicy::kArimaHpa: return ForecastModel::kArima;
    case ScalingPolicy::kLstmHpa: return ForecastModel::kLstm;
    case ScalingPolicy::kBiLstmHpa:
    case ScalingPolicy::kEvtBiLstmHpa: return ForecastModel::kBiLstm;
    default: return std::nullopt;
  }
}

class HpaPolicy final : public ReplicaPolicy {
 public:
  explicit HpaPolicy(const PolicySettings& settings)
      : target_ratio_(settings.target_utilization_ratio),
        tolerance_ratio_(settings.tolerance_ratio),
        high_water_risk_(settings.high_water_risk),
        model_(ModelOf(settings.policy)),
        is_capped_(settings.policy == ScalingPolicy::kEvtBiLstmHpa) {}

  PolicyAnswer Decide(const PolicyInput& input, const DemandForecast& forecast) override {
    return Consider(input, forecast);
  }

  PolicyAnswer Consider(const PolicyInput& input, const DemandForecast& forecast) const override {
    PolicyAnswer answer;
    if (model_) {
      answer.forecast_load_ratio = input.RatioOf(forecast.Expected(*model_, input.lead_minutes));
    }
    if (is_capped_) {
      answer.high_water_load_ratio = input.RatioOf(forecast.HighWater(high_water_risk_));
    }
    const auto load =
        Combine(input.LoadRatio(), answer.forecast_load_ratio, answer.high_water_load_ratio);
    answer.mode = load->mode;
    const ReplicaChoice choice = HpaReplicas(load->load_ratio, input.replicas, input.bounds,
                                             target_ratio_, tolerance_ratio_);
    const int64_t most = std::max<int64_t>(MostAfterAMinute(input.replicas), input.bounds.min);
    answer.replicas = static_cast<int32_t>(std::min<int64_t>(choice.replicas, most));
    answer.reason = answer.replicas < choice.replicas ? DecisionReason::kLoad : choice.reason;
    answer.target_utilization_ratio = target_ratio_;
    return answer;
  }

  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  double target_ratio_;
  double tolerance_ratio_;
  double high_water_risk_;
  std::optional<ForecastModel> model_;
  bool is_capped_;
};

}  // namespace

std::unique_ptr<ReplicaPolicy> MakeHpaPolicy(const PolicySettings& settings) {
  return std::make_unique<HpaPolicy>(settings);
}

}  // namespace tidemark::scaling
