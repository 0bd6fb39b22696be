#pragma once
// Forecasts of a workload's demand: which models there are, how they are asked for, and what is
// shown of them.
//
// Demand is the sum of what all pods of a workload use in a minute, in the resource's unit; never a
// mean over pods, which would contain our own scaling. Plain values; thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/resource.h"
#include "model/selector.h"
#include "model/workload_id.h"

namespace tidemark {

/// What forecasts are made by. The numbers are kept in saved state: they stay.
enum class ForecastModel : uint8_t {
  kLastValue = 0,     ///< it stays as it is
  kDayRise = 1,       ///< now, and the rise that there was a day ago
  kSeasonalDay = 2,   ///< as a day ago, corrected to the level of the last hour
  kSeasonalWeek = 3,  ///< as a week ago, corrected likewise
  kHoltWinters = 4,   ///< damped trend and daily season
  kRidge30 = 5,       ///< linear in 30 lags and the hour of the day
  kRidge60 = 6,       ///< the same with 60 lags
  kArima = 7,         ///< ARIMA(p,d,q) by exact likelihood
  kLstm = 8,          ///< one LSTM, forward in time
  kBiLstm = 9,        ///< one LSTM for each direction (DEBI-HPA)
};
inline constexpr size_t kForecastModelCount = 10;

/// As the configuration and metrics write them: last_value, day_rise, seasonal_day, seasonal_week,
/// holt_winters, ridge_30, ridge_60, arima, lstm, bilstm.
std::string_view ToString(ForecastModel model);
std::optional<ForecastModel> ForecastModelNamed(std::string_view name);

/// How much of a workload's demand is kept.
enum class DemandSteps : uint8_t {
  kNone,
  kFiveMinutes,  ///< to be drawn; no forecast is made
  kMinutes,      ///< to be forecast
};
inline constexpr std::array<DemandSteps, 3> kAllDemandSteps = {
    DemandSteps::kNone, DemandSteps::kFiveMinutes, DemandSteps::kMinutes};
/// As the configuration writes them: none, five_minutes, minutes.
std::string_view ToString(DemandSteps steps);

/// What is forecast of which workloads; the first that matches applies.
struct ForecastRule {
  Selector selector;  ///< over cluster, namespace, workload_type and workload
  DemandSteps steps = DemandSteps::kMinutes;
  Resource resource = Resource::kCpu;
  /// Candidates; the last value always is one.
  std::vector<ForecastModel> models = {ForecastModel::kLastValue,   ForecastModel::kDayRise,
                                       ForecastModel::kSeasonalDay, ForecastModel::kHoltWinters,
                                       ForecastModel::kRidge30,     ForecastModel::kRidge60};
  /// This one, whatever the scores say, as soon as it is fitted.
  std::optional<ForecastModel> always;
  /// Pods younger than this count in the demand for no more than the mean of those that are older:
  /// what a start costs is no load. 0: they count as all others do.
  int64_t startup_ms = 120'000;
};

inline constexpr size_t kMaxForecastHorizons = 4;
inline constexpr int32_t kMaxForecastHorizonMinutes = 60;

struct ForecastSettings {
  /// How far ahead, in minutes; rising, at most kMaxForecastHorizons, from 1 to
  /// kMaxForecastHorizonMinutes.
  std::vector<int32_t> horizons_minutes = {1, 3, 10};
  double interval_ratio = 0.9;  ///< what forecast intervals are to cover; in (0.5, 1)
  /// A model with weights of its own (LSTM, BiLSTM) is trained and used where it beats the best of
  /// the others by this; in [0, 1).
  double network_margin_ratio = 0.03;
  double high_water_risk = 0.001;       ///< of the high-water load; in (0, 0.5)
  double training_budget_ratio = 0.25;  ///< of one core; 0: nothing is trained
  int32_t max_workloads = 10'000;       ///< with steps of a minute; further ones get five
  /// The first that matches applies; where none does, jobs and cronjobs are not kept, what runs
  /// once a node (daemonset, process, staticpod) is drawn, all else is forecast as ForecastRule
  /// stands.
  std::vector<ForecastRule> rules;

  /// Of `rules` the first that matches; null: none does.
  const ForecastRule* FindRule(const WorkloadId& workload) const;
  /// Never fails.
  ForecastRule RuleOf(const WorkloadId& workload) const;
};

using ForecastSettingsPtr = std::shared_ptr<const ForecastSettings>;

/// One model's record of the last day at one horizon.
struct ForecastScore {
  ForecastModel model = ForecastModel::kLastValue;
  /// Mean absolute error in units of the last value's; absent while nothing was scored.
  std::optional<double> day_error_ratio;
  std::optional<double> week_error_ratio;
  std::optional<double> day_pinball_ratio;  ///< pinball loss in units of the last value's
  std::optional<double> week_pinball_ratio;
  uint32_t scored = 0;  ///< forecasts of the last day whose truth has come
};

/// What is expected at one horizon.
struct HorizonForecast {
  int32_t horizon_seconds = 0;
  ForecastModel model = ForecastModel::kLastValue;  ///< in use
  double demand = 0;                                ///< expected
  std::optional<double> lower;  ///< of the interval; absent while too few errors are known
  std::optional<double> upper;
  std::optional<double> coverage_ratio;  ///< of the intervals of the last day those that held
  std::vector<ForecastScore> scores;     ///< of all candidates, in the order of ForecastModel
};

/// What is known of the demand of a workload.
struct WorkloadForecast {
  Resource resource = Resource::kCpu;
  DemandSteps steps = DemandSteps::kNone;
  int64_t minute_ms = 0;          ///< start of the last minute of which the demand is known
  std::optional<double> demand;   ///< of that minute
  std::optional<double> request;  ///< of one pod: what ratios are of; absent where not known
  std::vector<HorizonForecast> horizons;  ///< empty: see `why`
  std::optional<double> high_water;       ///< demand that is passed in a minute with this risk:
  double high_water_risk = 0;             ///< that of the settings
  /// Why there is no forecast, or a simpler one than was asked for; may be empty.
  std::string why;
};

/// A minute of demand, for drawing; the value is NaN where it is not known.
struct DemandPoint {
  int64_t time_ms = 0;
  float demand = 0;
};

/// What became of one forecast.
struct ForecastPoint {
  int64_t time_ms = 0;  ///< of the minute that was forecast
  float demand = 0;
  float lower = 0;  ///< equal to `demand` where there was no interval
  float upper = 0;
};

/// Everything about one workload's forecast, too big for the Snapshot.
struct ForecastExplanation {
  WorkloadForecast now;
  std::vector<DemandPoint> history;  ///< as it is kept, oldest first
  /// For each of now.horizons the forecasts of the last hours, oldest first; shorter than the
  /// history.
  std::vector<std::vector<ForecastPoint>> past;
  struct Fitted {
    ForecastModel model = ForecastModel::kLastValue;
    int64_t trained_ms = 0;   ///< event time
    double seconds = 0;       ///< of one core
    uint32_t iterations = 0;  ///< of a network; 0 for others
    double loss = 0;          ///< of a network, on the part that was held back
    std::string what;         ///< e.g. "ARIMA(1,1,1)"; may be empty
  };
  std::vector<Fitted> fitted;
  struct Tail {  ///< of the high-water load
    double threshold = 0;
    double shape = 0;
    double scale = 0;
    uint64_t excesses = 0;
    uint64_t observations = 0;
  };
  std::optional<Tail> high_water;
};

}  // namespace tidemark
