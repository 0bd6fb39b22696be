#pragma once
// Forecasts for a replay: the demand goes through a ForecastTrack exactly as it would in the
// daemon, and what is due is fitted on the spot.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "forecast/due_fitter.h"
#include "forecast/forecast_track.h"
#include "model/forecast.h"
#include "scaling/replay.h"

namespace tidemark::scaling {

struct ReplayForecastOptions {
  ForecastRule rule;
  ForecastSettings settings;
  uint64_t seed = 0;
  /// LSTM and BiLSTM are trained where they are among the models; takes minutes of time.
  bool train_networks = true;
};

/// The models that these policies need beside the cheap ones, e.g. kBiLstm for bilstm-hpa.
std::vector<ForecastModel> ModelsFor(const std::vector<PolicySettings>& policies);

class TrackForecasts final : public ForecastSource {
 public:
  explicit TrackForecasts(const ReplayForecastOptions& options);
  const DemandForecast& At(int64_t minute, double demand) override;
  const forecast::ForecastTrack& track() const { return track_; }

 private:
  forecast::ForecastTrack track_;
  forecast::DueFitter fitter_;
  std::optional<TrackForecast> now_;
};

/// For policies that read none: every answer is "not known", but for the history.
class NoForecasts final : public ForecastSource {
 public:
  NoForecasts();
  ~NoForecasts() override;
  const DemandForecast& At(int64_t minute, double demand) override;

 private:
  class Nothing;
  std::unique_ptr<Nothing> nothing_;
};

}  // namespace tidemark::scaling
