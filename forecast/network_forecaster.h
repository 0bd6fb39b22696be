#pragma once
// LSTM and BiLSTM behind the interface of all models.
//
// They see the change from minute to minute of the last look_back minutes, scaled by the smallest
// and the largest of what was learnt from, and say the change from now to each horizon (or, as
// DEBI-HPA has it, to the next minute, and so on from there). What they say is added to the demand
// of now; it is never below 0. A window with a gap in it is neither learnt from nor forecast from.
//
// Memory: 4 bytes a weight, 332 kB for a BiLSTM of 100 units, and nothing before it is fitted.
// Training takes 11 MB of buffers for as long as it lasts.

#include <cstdint>
#include <memory>
#include <vector>

#include "forecast/forecaster.h"
#include "forecast/network_options.h"

namespace tidemark::forecast {

class LstmBuffers;

class NetworkForecaster : public Forecaster {
 public:
  /// `model` is kLstm or kBiLstm; the horizons are not empty.
  NetworkForecaster(ForecastModel model, const Horizons& horizons, const NetworkOptions& options);
  ~NetworkForecaster() override;

  ForecastModel model() const override { return model_; }
  int32_t look_back() const override { return options_.look_back + 1; }
  bool NeedsFit() const override { return true; }
  bool IsFitted() const override;
  Result<FitReport> Fit(const DemandSeries& history, const FitOptions& options) override;
  double FitSeconds(int64_t minutes) const override;
  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override;
  void Save(ByteWriter& out) const override;
  Result<void> Restore(ByteReader& in) override;
  size_t MemoryBytes() const override;

  /// Fit, with buffers that serve several fits one after the other.
  Result<FitReport> FitWith(LstmBuffers& buffers, const DemandSeries& history,
                            const FitOptions& options);

 private:
  struct Fitted;

  NetworkShape Shape() const;
  std::vector<int32_t> Targets() const;

  ForecastModel model_;
  Horizons horizons_;
  NetworkOptions options_;
  std::unique_ptr<const Fitted> fitted_;
};

/// With the usual options. `model` is kLstm or kBiLstm.
std::unique_ptr<Forecaster> MakeNetwork(ForecastModel model, const Horizons& horizons);

}  // namespace tidemark::forecast
