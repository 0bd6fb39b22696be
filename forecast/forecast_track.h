#pragma once
// The forecast of one workload as it goes on: minutes of demand come in, forecasts made earlier are
// scored against them, the best model of each horizon is in use, and its own recent errors make the
// interval around it.
//
// Advances on the minutes that are given to it and on what is activated, and on nothing else: the
// same calls make the same state. Models that have to learn are fitted elsewhere, from Series(),
// and come back through Activate.
//
// Not thread-safe.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/demand_history.h"
#include "forecast/forecaster.h"
#include "model/byte_codec.h"
#include "model/forecast.h"
#include "model/result.h"

namespace tidemark::forecast {

/// A fit that is due.
struct DueFit {
  ForecastModel model = ForecastModel::kLastValue;
  double staleness = 1;     ///< how many times its period has passed since the last; 1: just due
  double cost_seconds = 0;  ///< of one core, roughly
};

/// A fit that has come back.
struct FittedModel {
  ForecastModel model = ForecastModel::kLastValue;
  std::string_view weights;    ///< Forecaster::Save
  int64_t trained_minute = 0;  ///< newest minute it has learnt from
  double seconds = 0;          ///< of one core
  FitReport report{};
};

/// Is told of every forecast whose truth has come; for back-tests.
class ScoreObserver {
 public:
  virtual ~ScoreObserver() = default;
  /// A candidate's, at the place `horizon` of the horizons: absolute error and pinball loss.
  virtual void OnScore(size_t horizon, ForecastModel model, double error, double pinball) = 0;
  /// What was in use, after all OnScore of the minute and horizon. `has_interval`: lower and upper
  /// are one.
  virtual void OnUsed(size_t horizon, ForecastModel model, const ForecastPoint& forecast,
                      bool has_interval, double demand, double pinball) = 0;
};

class ForecastTrack {
 public:
  /// The same minutes that a forecast is held without demand.
  static constexpr int64_t kHeldMinutes = 5;
  /// So much of the forecasts that were in use is kept to be drawn.
  static constexpr int64_t kPastMinutes = 90;
  /// Probability of the quantile by whose pinball loss models are scored.
  static constexpr double kScoredQuantile = 0.9;

  /// How models are made; a test may have its own.
  using MakeModel = std::unique_ptr<Forecaster> (*)(ForecastModel, const Horizons&);

  /// Keeps what of them it needs.
  ForecastTrack(const ForecastRule& rule, const ForecastSettings& settings,
                MakeModel make = MakeForecaster);
  ~ForecastTrack();
  ForecastTrack(ForecastTrack&&) noexcept;
  ForecastTrack& operator=(ForecastTrack&&) noexcept;

  /// The configuration has become this one: history, scores and fits go on where they can. Another
  /// resource, or finer steps, begin anew; with other horizons those that stay keep their scores,
  /// and models that have learnt the old ones are to be fitted again.
  void Adapt(const ForecastRule& rule, const ForecastSettings& settings);

  /// The demand of a minute (since 1970); minutes come in order, what is not later than the newest
  /// is let be, and so is what is negative or not finite. Scores what was forecast for it, chooses,
  /// and forecasts from it. After more than kHeldMinutes without demand nothing that was forecast
  /// before is scored.
  void Add(int64_t minute, double demand, ScoreObserver* observer = nullptr);

  /// Fits that are due at this minute, by what the scores say of their worth; none while too little
  /// is known, too much is missing, or the demand does not move. Cheap.
  std::vector<DueFit> Due(int64_t minute) const;
  /// What a fit learns from.
  DemandSeries Series() const;
  /// Weights that a fit of the model begins from; empty without any.
  std::string Weights(ForecastModel model) const;
  /// The model forecasts by this from now on; it is used once its forecasts have been scored for
  /// some hours. kInvalidArgument: it is no candidate, or the weights are of another kind; nothing
  /// has changed.
  Result<void> Activate(const FittedModel& fitted);
  /// A fit that was due at this minute came to nothing: it is due again when its period has passed.
  void NoteFailedFit(ForecastModel model, int64_t minute);

  const DemandHistory& history() const;
  DemandSteps steps() const;
  Resource resource() const;
  /// What models are made for.
  Horizons horizons() const;
  /// All candidates, ascending.
  const std::vector<ForecastModel>& models() const;
  /// Everything but `request`, which is not known here. `now_minute`: how far the workload's time
  /// has come; forecasts are held for five minutes without a minute of demand and then withdrawn.
  WorkloadForecast Now(int64_t now_minute) const;
  /// The demand that will not be passed with probability `p`, in [0.5, 1), at the place `horizon`
  /// of the horizons; from the errors of the model in use, corrected as its intervals are. Absent
  /// where there is no forecast, or no interval.
  std::optional<double> Quantile(int64_t now_minute, size_t horizon, double p) const;
  /// The demand `minutes`, 1 or more, ahead by this model, a candidate, or by that in use; between
  /// horizons on straight lines (before the first from the demand of now), beyond the longest as at
  /// the longest. Absent where there is no forecast.
  std::optional<double> Expected(int64_t now_minute, std::optional<ForecastModel> model,
                                 int32_t minutes) const;
  /// out[i]: the demand so far ahead, between horizons likewise, that is not passed with
  /// probability p[i], in (0, 1), as Quantile has it. False, and nothing written, where there is no
  /// interval. `out` is as long as `p`.
  bool Quantiles(int64_t now_minute, int32_t minutes, std::span<const double> p,
                 std::span<double> out) const;
  /// The demand that is passed in a minute with this risk, in (0, 1); absent in the first hours.
  std::optional<double> HighWater(double risk) const;
  /// As Now, with history, past forecasts, fits and tail.
  ForecastExplanation Explain(int64_t now_minute) const;

  /// Puts what an earlier track (a back-filled past, or a pod's private one) knows before what is
  /// here: history and tail; its scores and fits only where here are none.
  void Merge(const ForecastTrack& from);

  size_t MemoryBytes() const;
  void Save(ByteWriter& out) const;
  /// What Save wrote, adapted to rule and settings. Weights that a model does not know any more are
  /// left out: it is to be fitted again. kInvalidArgument: it is no such thing. `saved_resource`:
  /// what the saved one is called now, where its slot may be another's (absent: it is no more).
  static Result<ForecastTrack> Restore(ByteReader& in, const ForecastRule& rule,
                                       const ForecastSettings& settings,
                                       std::optional<Resource> saved_resource,
                                       MakeModel make = MakeForecaster);
  /// The same where slots are what they were.
  static Result<ForecastTrack> Restore(ByteReader& in, const ForecastRule& rule,
                                       const ForecastSettings& settings,
                                       MakeModel make = MakeForecaster);

 private:
  class State;
  explicit ForecastTrack(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tidemark::forecast
