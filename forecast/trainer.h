#pragma once
// Fits models in the background, on a thread of its own, with a budget of CPU.
//
// Wishes are light; what a fit needs is loaded only when its turn has come. The order is by
// cheapness and staleness: what is cheap for how long it has been due goes first, so that one
// network does not keep a thousand linear models waiting, and nothing waits for ever
// (training_queue.h); while a network is trained, fits of under a second come in between, for at
// most as much CPU as it has had. Over any ten seconds no more than the budget's share of one core
// is spent: a long fit idles in between (FitOptions::pause), and one that does not is paid for by
// idling after it.
//
// Fits run at the lowest priority there is, so that they take no CPU that ingest could use. What is
// called back runs on another thread, of normal priority: it may take locks that ingest takes, too.
//
// Thread-safe. Callbacks come one at a time, and must not call Stop.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "forecast/demand_history.h"
#include "forecast/forecaster.h"
#include "forecast/training_time.h"
#include "model/counters.h"
#include "model/forecast.h"
#include "model/result.h"

namespace tidemark::forecast {

/// A fit that somebody wants.
struct TrainingWish {
  uint64_t owner = 0;    ///< whose; means nothing here
  std::string workload;  ///< of that owner; means nothing here
  ForecastModel model = ForecastModel::kLastValue;
  double staleness = 1;     ///< DueFit
  double cost_seconds = 0;  ///< DueFit
};

/// What one fit needs.
struct TrainingTask {
  TrainingWish wish;
  Horizons horizons;
  DemandSeries history;  ///< steps of one minute
  std::string weights;   ///< to begin from; may be empty
  uint64_t seed = 0;     ///< 0: TrainingSeed
};

/// Of the workload, the model and the end of the history (a step), and of nothing else: whoever
/// owns the workload, the same history makes the same model.
uint64_t TrainingSeed(const TrainingWish& wish, int64_t history_end);

/// What came of one.
struct TrainingResult {
  TrainingWish wish;
  std::string weights;  ///< Forecaster::Save
  FitReport report;
  double seconds = 0;          ///< of one core, spent on it
  int64_t trained_minute = 0;  ///< newest of the history
};

class Trainer {
 public:
  struct Options {
    double budget_ratio = 0.25;  ///< of one core; 0: nothing is done
    /// Networks of at most so many workloads are loaded, and trained together
    /// (network_together.h): each is handed over as it ends.
    size_t most_together = 4;
    /// Null: the machine's.
    std::shared_ptr<TrainingTime> time{};
    std::function<std::unique_ptr<Forecaster>(ForecastModel, const Horizons&)> make =
        MakeForecaster;
  };
  /// Nothing: the wish is no more.
  using Load = std::function<std::optional<TrainingTask>(const TrainingWish&)>;
  using Done = std::function<void(TrainingResult)>;

  Trainer(const Options& options, TrainingCounters& counters, Load load, Done done);
  /// Ends the fit under way, without a result, and the thread.
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// All that is wanted now; replaces what was wanted before and has not begun. What is under way,
  /// or came back within the last minute (whoever wishes may not have seen it yet), is left out;
  /// what was refused is left out for ten minutes.
  void SetWishes(std::vector<TrainingWish> wishes);
  /// Also of what is under way.
  void SetBudget(double budget_ratio);
  /// As the destructor; no callback runs afterwards.
  void Stop();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace tidemark::forecast
