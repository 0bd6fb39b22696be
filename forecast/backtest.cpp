#include "forecast/backtest.h"

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "forecast/due_fitter.h"
#include "forecast/forecast_track.h"

namespace tidemark::forecast {
namespace {

std::optional<double> Ratio(double loss, double unit) {
  if (!(unit > 0)) return std::nullopt;
  return loss / unit;
}

/// Sums over the scored minutes of one model, beside the last value's over the same ones.
struct Sums {
  double error = 0;
  double pinball = 0;
  double unit_error = 0;
  double unit_pinball = 0;
  uint64_t scored = 0;
  uint64_t in_use = 0;
};

class Observer final : public ScoreObserver {
 public:
  Observer(const std::vector<int32_t>& horizons, bool keep)
      : horizons_(horizons.size()), keep_(keep) {
    for (size_t i = 0; i < horizons.size(); ++i) horizons_[i].report.minutes = horizons[i];
  }

  /// What is told from now on counts.
  void SetScoring(bool scoring) { scoring_ = scoring; }

  void OnScore(size_t horizon, ForecastModel model, double error, double pinball) override {
    if (!scoring_) return;
    Horizon& at = horizons_[horizon];
    if (model == ForecastModel::kLastValue) {
      at.unit_error = error;
      at.unit_pinball = pinball;
    }
    Add(at.sums[static_cast<size_t>(model)], at, error, pinball);
  }

  void OnUsed(size_t horizon, ForecastModel model, const ForecastPoint& forecast, bool has_interval,
              double demand, double pinball) override {
    Horizon& at = horizons_[horizon];
    if (keep_) at.report.forecasts.push_back(forecast);
    const ForecastModel before = std::exchange(at.model, model);
    if (!scoring_) return;
    Add(at.used, at, std::abs(demand - double{forecast.demand}), pinball);
    ++at.sums[static_cast<size_t>(model)].in_use;
    if (model != before) ++at.report.changes;
    if (!has_interval) return;
    ++at.report.intervals;
    at.width += double{forecast.upper} - double{forecast.lower};
    if (demand >= double{forecast.lower} && demand <= double{forecast.upper}) ++at.held;
  }

  std::vector<BacktestHorizon> Report(const std::vector<ForecastModel>& models) {
    std::vector<BacktestHorizon> reports;
    for (Horizon& at : horizons_) {
      BacktestHorizon report = std::move(at.report);
      report.scored = at.used.scored;
      report.error_ratio = Ratio(at.used.error, at.used.unit_error);
      report.pinball_ratio = Ratio(at.used.pinball, at.used.unit_pinball);
      const auto scored = static_cast<double>(report.scored);
      if (report.scored > 0) report.last_value_error = at.used.unit_error / scored;
      if (report.intervals > 0) {
        const auto intervals = static_cast<double>(report.intervals);
        report.coverage_ratio = static_cast<double>(at.held) / intervals;
        report.interval_width = at.width / intervals;
      }
      for (const ForecastModel model : models) {
        const Sums& sums = at.sums[static_cast<size_t>(model)];
        BacktestScore& score = report.models.emplace_back();
        score.model = model;
        score.scored = sums.scored;
        score.error_ratio = Ratio(sums.error, sums.unit_error);
        score.pinball_ratio = Ratio(sums.pinball, sums.unit_pinball);
        if (report.scored > 0) score.in_use_ratio = static_cast<double>(sums.in_use) / scored;
      }
      reports.push_back(std::move(report));
    }
    return reports;
  }

 private:
  struct Horizon {
    BacktestHorizon report;
    std::array<Sums, kForecastModelCount> sums{};
    Sums used;
    double unit_error = 0;  // the last value's, of this minute
    double unit_pinball = 0;
    double width = 0;
    uint64_t held = 0;
    ForecastModel model = ForecastModel::kLastValue;
  };

  static void Add(Sums& sums, const Horizon& at, double error, double pinball) {
    sums.error += error;
    sums.pinball += pinball;
    sums.unit_error += at.unit_error;
    sums.unit_pinball += at.unit_pinball;
    ++sums.scored;
  }

  std::vector<Horizon> horizons_;
  bool keep_;
  bool scoring_ = false;
};

Result<void> Check(const DemandSeries& demand, const BacktestOptions& options) {
  const auto refuse = [](std::string message) {
    return Fail(ErrorCode::kInvalidArgument, std::move(message));
  };
  if (demand.first < 0) return refuse("the demand begins before 1970");
  if (static_cast<int64_t>(demand.values.size()) <= options.warm_up_minutes) {
    return refuse("the demand is known for " + std::to_string(demand.values.size()) +
                  " minutes, and of those the first " + std::to_string(options.warm_up_minutes) +
                  " are only learnt from: too short to be judged");
  }
  bool any = false;
  for (size_t i = 0; i < demand.values.size(); ++i) {
    const float value = demand.values[i];
    if (std::isnan(value)) continue;
    any = true;
    if (std::isinf(value) || value < 0) {
      return refuse("the demand of minute " + std::to_string(i) +
                    " of the series is negative or infinite, allowed: finite and 0 or more");
    }
  }
  if (!any) return refuse("the demand is known of no minute");
  return {};
}

}  // namespace

Result<BacktestReport> Backtest(const DemandSeries& demand, const BacktestOptions& options) {
  if (const auto checked = Check(demand, options); !checked) {
    return tl::unexpected<Error>(checked.error());
  }
  ForecastRule rule = options.rule;
  rule.steps = DemandSteps::kMinutes;
  ForecastTrack track(rule, options.settings);
  Observer observer(options.settings.horizons_minutes, options.keep_forecasts);
  DueFitter fitter({.seed = options.seed, .train_networks = options.train_networks});
  BacktestReport report;
  const double start = CoreSeconds();
  for (size_t i = 0; i < demand.values.size(); ++i) {
    if (std::isnan(demand.values[i])) continue;
    const int64_t minute = demand.first + static_cast<int64_t>(i);
    observer.SetScoring(static_cast<int64_t>(i) >= options.warm_up_minutes);
    track.Add(minute, double{demand.values[i]}, &observer);
    ++report.minutes;
    fitter.Fit(track, minute);
  }
  report.forecast_seconds = CoreSeconds() - start - fitter.seconds();
  report.now = track.Now(demand.end() - 1);
  report.memory_bytes = track.MemoryBytes();
  report.horizons = observer.Report(track.models());
  report.fits = fitter.TakeFits();
  return report;
}

}  // namespace tidemark::forecast
