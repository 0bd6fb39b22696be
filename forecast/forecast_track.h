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
  FitReport report;
};

class ForecastTrack {
 public:
  /// Keeps what of them it needs.
  ForecastTrack(const ForecastRule& rule, const ForecastSettings& settings);
  ~ForecastTrack();
  ForecastTrack(ForecastTrack&&) noexcept;
  ForecastTrack& operator=(ForecastTrack&&) noexcept;

  /// The configuration has become this one: history, scores and fits go on where they can; another
  /// resource begins anew.
  void Adapt(const ForecastRule& rule, const ForecastSettings& settings);

  /// The demand of a minute (since 1970); minutes come in order, what is not later than the newest
  /// is let be. Scores what was forecast for it, chooses, and forecasts from it.
  void Add(int64_t minute, double demand);

  /// Fits that are due at this minute, by what the scores say of their worth; none while too little
  /// is known.
  std::vector<DueFit> Due(int64_t minute) const;
  /// What a fit learns from.
  DemandSeries Series() const;
  /// Weights that a fit of the model begins from; empty without any.
  std::string Weights(ForecastModel model) const;
  /// The model forecasts by this from now on. kInvalidArgument: it is no candidate, or the weights
  /// are of another kind; nothing has changed.
  Result<void> Activate(const FittedModel& fitted);

  const DemandHistory& history() const;
  DemandSteps steps() const;
  Resource resource() const;
  /// Everything but `request`, which is not known here. `now_minute`: how far the workload's time
  /// has come; forecasts are held for five minutes without a minute of demand and then withdrawn.
  WorkloadForecast Now(int64_t now_minute) const;
  /// The same with history, past forecasts, fits and tail.
  ForecastExplanation Explain(int64_t now_minute) const;

  /// Puts what an earlier track (a back-filled past, or a pod's private one) knows before what is
  /// here: history and tail; its scores and fits only where here are none.
  void Merge(const ForecastTrack& from);

  size_t MemoryBytes() const;
  void Save(ByteWriter& out) const;
  /// What Save wrote, adapted to rule and settings. kInvalidArgument: it is no such thing.
  static Result<ForecastTrack> Restore(ByteReader& in, const ForecastRule& rule,
                                       const ForecastSettings& settings);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::forecast
