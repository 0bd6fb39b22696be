#pragma once
// Back-tests of many demands, and what they come to together.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/backtest/demand.h"
#include "forecast/backtest.h"
#include "model/forecast.h"

namespace tidemark::backtest {

/// Of one demand; `why` where it could not be tested.
struct Tested {
  Demand demand;
  std::optional<forecast::BacktestReport> report;
  std::string why;
};

/// Means over the demands that were tested, of one horizon and one model or, without a model, of
/// what was in use.
struct MeanScore {
  std::optional<double> error_ratio;
  std::optional<double> pinball_ratio;
  std::optional<double> coverage_ratio;  ///< only of what was in use
  double in_use_ratio = 0;               ///< only of a model
  size_t series = 0;                     ///< that have an error ratio
};

struct BacktestRun {
  forecast::BacktestOptions options;
  std::vector<Tested> tested;

  size_t TestedCount() const;
  /// That any was tested with, in the order of ForecastModel.
  std::vector<ForecastModel> Models() const;
  MeanScore Mean(size_t horizon, std::optional<ForecastModel> model) const;
};

/// Calls `told` before each demand, with how many are done.
BacktestRun RunBacktests(std::vector<Demand> demands, const forecast::BacktestOptions& options,
                         const std::function<void(size_t done, size_t total)>& told);

}  // namespace tidemark::backtest
