#pragma once
// What a policy may ask of the future of a demand, and of its past: a view of one moment.
//
// Behind it stands a ForecastTrack, live and in replay; a test may have its own. Absent answers
// mean "not known": a policy then goes by the demand of the minute alone.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "forecast/demand_history.h"
#include "forecast/forecast_track.h"
#include "model/forecast.h"

namespace tidemark::scaling {

class DemandForecast {
 public:
  virtual ~DemandForecast() = default;

  /// The demand `minutes` (at least 1) after the newest minute by this model, or by that in use;
  /// between horizons on straight lines, beyond the longest as at the longest. In the resource's
  /// unit, not below 0.
  virtual std::optional<double> Expected(std::optional<ForecastModel> model,
                                         int32_t minutes) const = 0;
  /// out[i]: the demand `minutes` ahead that is not passed with probability p[i], rising, each in
  /// (0, 1): from the recent errors of the model in use, corrected as its intervals are. False, and
  /// nothing written, where too few are known.
  virtual bool Quantiles(int32_t minutes, std::span<const double> p,
                         std::span<double> out) const = 0;
  /// The demand that is passed in a minute with this risk, in (0, 1): by peaks over threshold.
  virtual std::optional<double> HighWater(double risk) const = 0;
  /// Minutes of demand up to now (steps of one minute).
  virtual const forecast::DemandHistory& History() const = 0;
};

/// As of a minute that was given to it; the track must outlive it and not change meanwhile.
class TrackForecast final : public DemandForecast {
 public:
  TrackForecast(const forecast::ForecastTrack& track, int64_t now_minute)
      : track_(track), now_minute_(now_minute) {}
  std::optional<double> Expected(std::optional<ForecastModel> model,
                                 int32_t minutes) const override;
  bool Quantiles(int32_t minutes, std::span<const double> p, std::span<double> out) const override;
  std::optional<double> HighWater(double risk) const override;
  const forecast::DemandHistory& History() const override;

 private:
  const forecast::ForecastTrack& track_;
  const int64_t now_minute_;
};

}  // namespace tidemark::scaling
