#include "scaling/debi_policy.h"

#include "scaling/replica_decision.h"

namespace tidemark::scaling {
namespace {

class DebiPolicy final : public ReplicaPolicy {
 public:
  explicit DebiPolicy(const PolicySettings& settings)
      : aim_{.low_ratio = settings.utilization_low_ratio,
             .high_ratio = settings.utilization_high_ratio,
             .tolerance_ratio = settings.tolerance_ratio,
             .rounding =
                 settings.policy == ScalingPolicy::kDebiPaper ? Rounding::kNearest : Rounding::kUp},
        high_water_risk_(settings.high_water_risk) {}

  PolicyAnswer Decide(const PolicyInput& input, const DemandForecast& forecast) override {
    return Consider(input, forecast);
  }

  PolicyAnswer Consider(const PolicyInput& input, const DemandForecast& forecast) const override {
    PolicyAnswer answer;
    answer.forecast_load_ratio = input.RatioOf(forecast.Expected(std::nullopt, input.lead_minutes));
    answer.high_water_load_ratio = input.RatioOf(forecast.HighWater(high_water_risk_));
    const auto load =
        Combine(input.LoadRatio(), answer.forecast_load_ratio, answer.high_water_load_ratio);
    answer.mode = load->mode;
    const ReplicaChoice choice = DebiReplicas(load->load_ratio, input.replicas, input.bounds, aim_);
    answer.replicas = choice.replicas;
    answer.reason = choice.reason;
    answer.target_utilization_ratio = DebiTarget(input.replicas, input.bounds, aim_);
    return answer;
  }

  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  DebiAim aim_;
  double high_water_risk_;
};

}  // namespace

std::unique_ptr<ReplicaPolicy> MakeDebiPolicy(const PolicySettings& settings) {
  return std::make_unique<DebiPolicy>(settings);
}

}  // namespace tidemark::scaling
