#include "scaling/replay_forecasts.h"

#include <algorithm>

namespace tidemark::scaling {
namespace {

ForecastRule InMinutes(ForecastRule rule) {
  rule.steps = DemandSteps::kMinutes;
  return rule;
}

}  // namespace

std::vector<ForecastModel> ModelsFor(const std::vector<PolicySettings>& policies) {
  std::vector<ForecastModel> models;
  for (const PolicySettings& settings : policies) {
    switch (settings.policy) {
      case ScalingPolicy::kArimaHpa: models.push_back(ForecastModel::kArima); break;
      case ScalingPolicy::kLstmHpa: models.push_back(ForecastModel::kLstm); break;
      case ScalingPolicy::kBiLstmHpa:
      case ScalingPolicy::kEvtBiLstmHpa: models.push_back(ForecastModel::kBiLstm); break;
      case ScalingPolicy::kHpa:
      case ScalingPolicy::kDebi:
      case ScalingPolicy::kDebiPaper:
      case ScalingPolicy::kTidemark: break;
    }
  }
  std::sort(models.begin(), models.end());
  models.erase(std::unique(models.begin(), models.end()), models.end());
  return models;
}

TrackForecasts::TrackForecasts(const ReplayForecastOptions& options)
    : track_(InMinutes(options.rule), options.settings),
      fitter_({.seed = options.seed, .train_networks = options.train_networks}) {}

const DemandForecast& TrackForecasts::At(int64_t minute, double demand) {
  track_.Add(minute, demand);
  fitter_.Fit(track_, minute);
  return now_.emplace(track_, minute);
}

class NoForecasts::Nothing final : public DemandForecast {
 public:
  std::optional<double> Expected(std::optional<ForecastModel> /*model*/,
                                 int32_t /*minutes*/) const override {
    return std::nullopt;
  }
  bool Quantiles(int32_t /*minutes*/, std::span<const double> /*p*/,
                 std::span<double> /*out*/) const override {
    return false;
  }
  std::optional<double> HighWater(double /*risk*/) const override { return std::nullopt; }
  const forecast::DemandHistory& History() const override { return history_; }

  void Put(int64_t minute, double demand) { history_.Put(minute, demand); }

 private:
  forecast::DemandHistory history_;
};

NoForecasts::NoForecasts() : nothing_(std::make_unique<Nothing>()) {}

NoForecasts::~NoForecasts() = default;

const DemandForecast& NoForecasts::At(int64_t minute, double demand) {
  nothing_->Put(minute, demand);
  return *nothing_;
}

}  // namespace tidemark::scaling
