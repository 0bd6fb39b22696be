#pragma once
// What the forecasts of a demand would have been worth: its minutes go through a ForecastTrack one
// by one, exactly as they would in the daemon, what is due is fitted on the spot, and each forecast
// is held against what came.
//
// A pure function; as long as the fits are: the same series, options and seed make the same report
// but for the seconds.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forecast/demand_history.h"
#include "forecast/due_fitter.h"
#include "model/forecast.h"
#include "model/result.h"

namespace tidemark::forecast {

struct BacktestOptions {
  /// Candidates and `always` are read of it; the selector is not.
  ForecastRule rule;
  /// Horizons, interval, margin and risk are read of it.
  ForecastSettings settings;
  /// So much of the start is learnt from but not scored, in minutes.
  int64_t warm_up_minutes = 1440;
  uint64_t seed = 0;
  /// Whether LSTM and BiLSTM are trained at all; it takes minutes.
  bool train_networks = true;
  /// Fills BacktestHorizon::forecasts.
  bool keep_forecasts = false;
};

/// One model at one horizon.
struct BacktestScore {
  ForecastModel model = ForecastModel::kLastValue;
  /// Mean absolute error in units of the last value's over the same minutes; absent where the model
  /// made no forecast or the last value no error.
  std::optional<double> error_ratio;
  std::optional<double> pinball_ratio;  ///< likewise
  uint64_t scored = 0;                  ///< minutes
  double in_use_ratio = 0;              ///< share of the scored minutes in which it was in use
};

struct BacktestHorizon {
  int32_t minutes = 0;
  double last_value_error = 0;        ///< mean absolute error, in the unit of the demand
  std::vector<BacktestScore> models;  ///< of all candidates, in the order of ForecastModel
  /// The same of what was in use.
  std::optional<double> error_ratio;
  std::optional<double> pinball_ratio;
  std::optional<double> coverage_ratio;  ///< of the intervals those that held; absent without any
  double interval_width = 0;             ///< mean, in the unit of the demand
  uint64_t scored = 0;                   ///< minutes
  uint64_t intervals = 0;                ///< those of them that had an interval
  uint32_t changes = 0;                  ///< of the model in use, after the warm-up
  /// What was in use, with its interval, by the minute it was for; also of the warm-up.
  std::vector<ForecastPoint> forecasts;
};

struct BacktestReport {
  std::vector<BacktestHorizon> horizons;
  std::vector<FitsOfModel> fits;  ///< of the models for which any was due
  uint64_t minutes = 0;           ///< of demand that were known
  double forecast_seconds = 0;    ///< of one core, for everything but fits
  WorkloadForecast now;           ///< at the end
  size_t memory_bytes = 0;        ///< of the track at the end
};

/// kInvalidArgument: the series is empty, has a value that is negative or infinite, or is no longer
/// than the warm-up.
Result<BacktestReport> Backtest(const DemandSeries& demand, const BacktestOptions& options);

}  // namespace tidemark::forecast
