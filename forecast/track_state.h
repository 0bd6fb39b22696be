#pragma once
// What a ForecastTrack consists of; of use to its own files only.

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "estimators/high_water.h"
#include "forecast/error_sketch.h"
#include "forecast/forecast_track.h"
#include "forecast/interval_record.h"
#include "forecast/loss_record.h"
#include "forecast/model_choice.h"
#include "forecast/past_forecasts.h"

namespace tidemark::forecast {

/// What of the configuration a track goes by.
struct TrackPlan {
  TrackPlan() = default;
  TrackPlan(const ForecastRule& rule, const ForecastSettings& settings);

  Resource resource = Resource::kCpu;
  DemandSteps steps = DemandSteps::kNone;
  std::vector<ForecastModel> models;  ///< candidates, ascending: the first is the last value
  std::optional<ForecastModel> always;
  Horizons horizons;
  double interval_ratio = 0.9;
  double margin = 0.03;
  double risk = 0.001;

  /// Of each side of an interval.
  double miss() const { return (1 - interval_ratio) / 2; }
  std::optional<size_t> PlaceOf(ForecastModel model) const;

  friend bool operator==(const TrackPlan&, const TrackPlan&) = default;
};

class ForecastTrack::State {
 public:
  State(TrackPlan plan, MakeModel make);

  void Add(int64_t minute, double demand, ScoreObserver* observer);
  std::vector<DueFit> Due(int64_t minute) const;
  Result<void> Activate(const FittedModel& fitted);
  void NoteFailedFit(ForecastModel model, int64_t minute);
  std::string Weights(ForecastModel model) const;
  WorkloadForecast Now(int64_t now_minute) const;
  std::optional<double> Quantile(int64_t now_minute, size_t horizon, double p) const;
  std::optional<double> Expected(int64_t now_minute, std::optional<ForecastModel> model,
                                 int32_t minutes) const;
  bool Quantiles(int64_t now_minute, int32_t minutes, std::span<const double> p,
                 std::span<double> out) const;
  std::optional<double> HighWater(double risk) const;
  ForecastExplanation Explain(int64_t now_minute) const;
  /// Takes what fits `plan_` out of another state, whatever its plan.
  void TakeOver(State& old);
  void Merge(const State& from);
  size_t MemoryBytes() const;
  void Save(ByteWriter& out) const;
  static std::unique_ptr<State> Restore(ByteReader& in, MakeModel make);

  const TrackPlan& plan() const { return plan_; }
  /// The same resource has another slot now.
  void CallResource(Resource resource) { plan_.resource = resource; }
  const DemandHistory& history() const { return history_; }
  MakeModel model_maker() const { return make_; }

 private:
  static constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

  /// One of the models.
  struct Candidate {
    std::unique_ptr<Forecaster> forecaster;
    int64_t trained = -1;   // newest minute it has learnt from; -1: never
    int64_t worth_it = -1;  // of a network: minute in which it was in use or began its trial
    int64_t failed = -1;    // minute of the last fit that came to nothing
    float seconds = 0;
    bool parked = false;  // a network that was not worth it: its weights are gone
    FitReport report;
  };
  /// A forecast of one candidate that waits for its truth.
  struct Pending {
    float demand = kNothing;
    float scale = -1;  // of its errors when it was made; below 0: not known
  };
  /// What was in use of them.
  struct Made {
    float demand = kNothing;
    float lower = kNothing;  // both or none
    float upper = kNothing;
    uint8_t candidate = 0;
  };
  /// One horizon. Rings are by minute % minutes: the minute a forecast is made at and the one it is
  /// for have the same place.
  struct Lane {
    int32_t minutes = 1;
    uint8_t in_use = 0;
    bool in_doubt = false;
    std::vector<LossRecord> losses;     // by candidate
    LossRecord used;                    // of what was in use
    std::vector<ErrorSketch> sketches;  // by candidate
    std::vector<Pending> pending;       // by place, then candidate
    std::vector<Made> made;             // by place
    IntervalRecord intervals;
    PastForecasts past;
  };

  size_t Candidates() const { return plan_.models.size(); }
  std::span<Pending> PendingAt(Lane& lane, int64_t minute) const;
  std::span<const Pending> PendingAt(const Lane& lane, int64_t minute) const;
  const Made& MadeAt(const Lane& lane, int64_t minute) const;
  static void DropPending(Lane& lane, int64_t minute, size_t candidates);
  void DropAllPending();

  void AddToFiveMinutes(int64_t minute, double demand);
  void PassTime(int64_t minute);
  void Score(size_t place, int64_t minute, double demand, ScoreObserver* observer);
  using ContenderSpace = std::array<Contender, kForecastModelCount>;
  std::span<const Contender> Contenders(const Lane& lane, ContenderSpace& space) const;
  void ChooseModels();
  void ParkNetworks();
  void Forecast(int64_t minute);
  /// Between which lanes a time ahead lies.
  struct Between;
  Between LanesAround(int32_t minutes) const;
  bool IsHeld(int64_t now_minute) const {
    return newest_ >= 0 && now_minute - newest_ <= kHeldMinutes;
  }
  double QuantileOf(const Lane& lane, const Made& made, double p) const;
  Made Make(const Lane& lane, std::span<const Pending> pending) const;

  bool CanForecast(size_t candidate) const;
  /// At any horizon.
  bool IsInUse(size_t candidate) const;
  int64_t HourOf(int64_t minute) const { return minute / 60; }
  uint32_t KnownOfDay() const;
  /// A demand that is known for less says nothing about itself.
  static constexpr int64_t kYoungMinutes = 180;
  bool IsFlat() const;
  std::string Why(int64_t now_minute) const;
  bool IsAnyFitted() const;
  std::string WhyOnTrial() const;
  std::string WhyNot(ForecastModel model) const;

  void SaveCandidates(ByteWriter& out) const;
  void RestoreCandidates(ByteReader& in);
  void SaveLane(const Lane& lane, ByteWriter& out) const;
  void RestoreLane(Lane& lane, ByteReader& in) const;
  void TakeOver(Lane& lane, Lane& old, const TrackPlan& plan) const;
  void MergeLearnt(State& earlier);
  /// Counts known minutes and level anew, from the history.
  void Recount();

  TrackPlan plan_;
  MakeModel make_;
  DemandHistory history_;
  estimators::HighWaterTrack high_water_;
  std::vector<Candidate> candidates_;
  std::vector<Lane> lanes_;
  int64_t newest_ = -1;              // minute
  std::array<uint8_t, 24> known_{};  // minutes of the last hours with demand
  float level_ = 0;                  // running mean of the demand, over a day
  // Of the present step of five minutes, where only these are kept.
  double step_sum_ = 0;
  int32_t step_count_ = 0;
};

}  // namespace tidemark::forecast
