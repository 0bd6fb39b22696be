#pragma once
// One model of one workload's demand: it learns from minutes and says how the next ones will be.
//
// All horizons are minutes ahead of the newest known minute, and every model is made for one list
// of them. What a model is sure of is not asked of it: intervals come from the errors that it has
// made (forecast_track.h), not from its likelihood.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "forecast/demand_history.h"
#include "model/byte_codec.h"
#include "model/forecast.h"
#include "model/result.h"

namespace tidemark::forecast {

/// How far ahead, in minutes; rising.
class Horizons {
 public:
  Horizons() : Horizons(std::array<int32_t, 3>{1, 3, 10}) {}
  /// At most kMaxForecastHorizons, each from 1 to kMaxForecastHorizonMinutes, rising.
  explicit Horizons(std::span<const int32_t> minutes) {
    for (const int32_t horizon : minutes) minutes_[count_++] = static_cast<int16_t>(horizon);
  }
  size_t size() const { return count_; }
  int32_t operator[](size_t i) const { return minutes_[i]; }
  int32_t longest() const { return count_ == 0 ? 0 : minutes_[count_ - 1]; }

  friend bool operator==(const Horizons&, const Horizons&) = default;

 private:
  std::array<int16_t, kMaxForecastHorizons> minutes_{};
  uint8_t count_ = 0;
};

struct FitOptions {
  uint64_t seed = 0;       ///< the same seed and history make the same model
  std::stop_token stop{};  ///< ends a fit early: kUnavailable, and the model is as before
  /// Where it is there, a fit that may take seconds calls it every some tens of milliseconds, on
  /// the thread that called Fit: the caller may let time pass in it, to keep to a budget of CPU.
  std::function<void()> pause{};
};

/// What a fit came to.
struct FitReport {
  uint32_t iterations = 0;
  double loss = 0;   ///< of the part that was held back; 0 where nothing was
  std::string what;  ///< e.g. "ARIMA(1,1,1)"; may be empty
};

/// Not thread-safe; const calls may run at once.
class Forecaster {
 public:
  virtual ~Forecaster() = default;

  virtual ForecastModel model() const = 0;
  /// Minutes of history, up to now, that a forecast reads; a gap in the last
  /// of them may keep it from being made (Forecast says so).
  virtual int32_t look_back() const = 0;
  /// Whether it has to learn before it can forecast.
  virtual bool NeedsFit() const = 0;
  virtual bool IsFitted() const = 0;
  /// Learns from the whole series. A model that was fitted, or restored, begins from what it knows
  /// where that helps (warm start). kInvalidArgument: too little is known, too much is missing, or
  /// it does not move; the message says which. The model then stays as it was.
  virtual Result<FitReport> Fit(const DemandSeries& history, const FitOptions& options) = 0;
  /// What a fit of so many minutes costs, in seconds of one core, roughly.
  virtual double FitSeconds(int64_t minutes) const = 0;

  /// out[i]: the demand horizons[i] minutes after minute `now`, from what is known up to `now`;
  /// finite and not below 0. False, and nothing written, when it cannot be said: not fitted, or
  /// what it would be made from is missing. `out` has the size of the horizons; `history` is of
  /// steps of one minute.
  virtual bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const = 0;

  /// What Fit learnt, as bytes; nothing for a model that needs none.
  virtual void Save(ByteWriter& out) const = 0;
  /// Reads what Save wrote. kInvalidArgument: it is no such thing, or of other horizons; the model
  /// is as before.
  virtual Result<void> Restore(ByteReader& in) = 0;
  virtual size_t MemoryBytes() const = 0;
};

/// Never null. With the usual settings of the model.
std::unique_ptr<Forecaster> MakeForecaster(ForecastModel model, const Horizons& horizons);

}  // namespace tidemark::forecast
