#include "cmd/backtest/run.h"

#include <algorithm>
#include <utility>

namespace tidemark::backtest {
namespace {

class Average {
 public:
  void Add(std::optional<double> value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> Get() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }
  size_t count() const { return count_; }

 private:
  double sum_ = 0;
  size_t count_ = 0;
};

}  // namespace

size_t BacktestRun::TestedCount() const {
  return static_cast<size_t>(
      std::ranges::count_if(tested, [](const Tested& one) { return one.report.has_value(); }));
}

std::vector<ForecastModel> BacktestRun::Models() const {
  std::vector<ForecastModel> models;
  const auto first =
      std::ranges::find_if(tested, [](const Tested& one) { return one.report.has_value(); });
  if (first == tested.end() || first->report->horizons.empty()) return models;
  for (const auto& score : first->report->horizons.front().models) models.push_back(score.model);
  return models;
}

MeanScore BacktestRun::Mean(size_t horizon, std::optional<ForecastModel> model) const {
  Average errors;
  Average pinballs;
  Average coverages;
  Average in_use;
  for (const Tested& one : tested) {
    if (!one.report) continue;
    const forecast::BacktestHorizon& at = one.report->horizons[horizon];
    if (!model) {
      errors.Add(at.error_ratio);
      pinballs.Add(at.pinball_ratio);
      coverages.Add(at.coverage_ratio);
      continue;
    }
    const auto score = std::ranges::find(at.models, *model, &forecast::BacktestScore::model);
    if (score == at.models.end()) continue;
    errors.Add(score->error_ratio);
    pinballs.Add(score->pinball_ratio);
    in_use.Add(score->in_use_ratio);
  }
  return {errors.Get(), pinballs.Get(), coverages.Get(), in_use.Get().value_or(0), errors.count()};
}

BacktestRun RunBacktests(std::vector<Demand> demands, const forecast::BacktestOptions& options,
                         const std::function<void(size_t done, size_t total)>& told) {
  BacktestRun run;
  run.options = options;
  const size_t total = demands.size();
  for (Demand& demand : demands) {
    told(run.tested.size(), total);
    Tested one;
    auto report = forecast::Backtest(demand.Series(), options);
    if (report) {
      one.report = *std::move(report);
    } else {
      one.why = report.error().message;
    }
    one.demand = std::move(demand);
    run.tested.push_back(std::move(one));
  }
  return run;
}

}  // namespace tidemark::backtest
