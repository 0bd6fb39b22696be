#pragma once
// Forecasts that many policies ask for alike: each question is answered once a minute, and what was
// expected at the lead is kept for drawing.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "forecast/demand_history.h"
#include "scaling/demand_forecast.h"
#include "scaling/replay.h"

namespace tidemark::replay_policies {

/// What was expected `lead` minutes after the minute it was said in; NaN: nothing.
struct ExpectedBand {
  float expected;
  float lower;
  float upper;
};
/// Share of what comes that lies within a band.
inline constexpr double kBandRatio = 0.9;

/// Answers what `source` answers. Not thread-safe; `source` must outlive it.
class SharedForecasts final : public scaling::ForecastSource {
 public:
  /// `lead_minutes`: of the bands, 1 or more; 0: none are kept.
  SharedForecasts(scaling::ForecastSource& source, int64_t first_minute, size_t minutes,
                  int32_t lead_minutes);
  const scaling::DemandForecast& At(int64_t minute, double demand) override;
  /// By minute of the demand; empty without a lead.
  std::vector<ExpectedBand> TakeBands() { return std::move(bands_); }

 private:
  class Remembered final : public scaling::DemandForecast {
   public:
    void Reset(const scaling::DemandForecast& of);
    std::optional<double> Expected(std::optional<ForecastModel> model,
                                   int32_t minutes) const override;
    bool Quantiles(int32_t minutes, std::span<const double> p,
                   std::span<double> out) const override;
    std::optional<double> HighWater(double risk) const override;
    const forecast::DemandHistory& History() const override { return of_->History(); }

   private:
    struct ExpectedAnswer {
      std::optional<ForecastModel> model;
      int32_t minutes;
      std::optional<double> demand;
    };
    struct QuantileAnswer {
      int32_t minutes;
      std::vector<double> p;
      std::vector<double> demands;  // empty: not known
    };
    const scaling::DemandForecast* of_ = nullptr;
    mutable std::vector<ExpectedAnswer> expected_;
    mutable std::vector<QuantileAnswer> quantiles_;
    mutable std::vector<std::pair<double, std::optional<double>>> high_water_;
  };

  scaling::ForecastSource& source_;
  const int64_t first_minute_;
  const int32_t lead_minutes_;
  std::vector<ExpectedBand> bands_;
  Remembered now_;
};

}  // namespace tidemark::replay_policies
