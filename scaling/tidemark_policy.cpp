#include "scaling/tidemark_policy.h"

#include <algorithm>
#include <array>

#include "scaling/replica_decision.h"

namespace tidemark::scaling {
namespace {

class TidemarkPolicy final : public ReplicaPolicy {
 public:
  explicit TidemarkPolicy(const PolicySettings& settings)
      : utilization_ratio_(settings.slo_utilization_ratio),
        quantile_{1 - settings.slo_time_ratio},
        tolerance_ratio_(settings.tolerance_ratio) {}

  PolicyAnswer Decide(const PolicyInput& input, const DemandForecast& forecast) override {
    return Consider(input, forecast);
  }

  PolicyAnswer Consider(const PolicyInput& input, const DemandForecast& forecast) const override {
    PolicyAnswer answer;
    std::array<double, 1> highest{};
    if (forecast.Quantiles(input.lead_minutes, quantile_, highest)) {
      answer.forecast_load_ratio = input.RatioOf(highest[0]);
    }
    const auto load = Combine(input.LoadRatio(), answer.forecast_load_ratio, std::nullopt);
    answer.mode = load->mode;
    answer.target_utilization_ratio = utilization_ratio_;
    const double wanted = load->load_ratio * input.replicas / utilization_ratio_;
    answer.replicas = RoundUpWithin(wanted, input.bounds);
    const bool is_predictive = answer.mode == ScalingMode::kPredictive;
    answer.reason = is_predictive ? DecisionReason::kRisk : DecisionReason::kLoad;
    if (wanted > input.bounds.max + kEdge) answer.reason = DecisionReason::kAtMaximum;
    if (wanted <= input.bounds.min - 1 + kEdge) answer.reason = DecisionReason::kAtMinimum;
    const double least_kept = (1 - tolerance_ratio_) * input.replicas - kEdge;
    if (answer.replicas < input.replicas && input.replicas <= input.bounds.max &&
        answer.replicas >= least_kept) {
      answer.replicas = input.replicas;
      answer.reason = DecisionReason::kSmallScaleDown;
    }
    return answer;
  }

  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  double utilization_ratio_;
  std::array<double, 1> quantile_;
  double tolerance_ratio_;
};

}  // namespace

std::unique_ptr<ReplicaPolicy> MakeTidemarkPolicy(const PolicySettings& settings) {
  return std::make_unique<TidemarkPolicy>(settings);
}

}  // namespace tidemark::scaling
