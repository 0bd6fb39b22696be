#pragma once
// Fits on the spot what is due of a track, as a trainer does beside a daemon: for back-tests and
// replays.

#include <cstdint>
#include <string>
#include <vector>

#include "forecast/forecast_track.h"
#include "model/forecast.h"

namespace tidemark::forecast {

/// The fits of one model.
struct FitsOfModel {
  ForecastModel model = ForecastModel::kLastValue;
  uint32_t fits = 0;
  uint32_t failures = 0;
  uint64_t iterations = 0;
  double seconds = 0;   ///< of one core
  std::string what;     ///< of the last
  std::string failure;  ///< of the last; may be empty
};

/// Seconds of one core that this thread has spent.
double CoreSeconds();

/// Not thread-safe. The same minutes and seed make the same fits, but for the seconds.
class DueFitter {
 public:
  struct Options {
    uint64_t seed = 0;
    bool train_networks = true;  ///< false: LSTM and BiLSTM are never fitted
  };

  explicit DueFitter(const Options& options) : options_(options) {}

  /// What is due at this minute is fitted and activated, or noted as failed.
  void Fit(ForecastTrack& track, int64_t minute);
  /// Of the models for which any was due; empties them.
  std::vector<FitsOfModel> TakeFits();
  double seconds() const { return seconds_; }  ///< of one core, of all fits

 private:
  void FitOne(ForecastTrack& track, ForecastModel model, int64_t minute);

  Options options_;
  std::vector<FitsOfModel> fits_;
  double seconds_ = 0;
};

}  // namespace tidemark::forecast
