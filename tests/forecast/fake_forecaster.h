#pragma once
// Models whose errors a test decides, of a demand that it makes: each knows what will come, and is
// wrong by a share of the noise that is its own.

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "forecast/forecast_track.h"
#include "forecast/forecaster.h"

namespace tidemark::forecast {

/// In [-1, 1), always the same for the same number.
inline double Noise(uint64_t number) {
  uint64_t mixed = number * 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9U;
  mixed ^= mixed >> 29;
  return static_cast<double>(mixed >> 11) * 0x1p-52 - 1;
}

/// A demand of about 100 that jumps by up to 20 each minute.
inline double JumpyDemand(int64_t minute) {
  return 100 + 10 * Noise(static_cast<uint64_t>(minute));
}

/// What all fakes of a test go by; set anew by each test.
struct FakeWorld {
  double (*demand)(int64_t minute) = JumpyDemand;
  /// How wrong a model is at most; a model that is not named says nothing.
  std::map<ForecastModel, double> errors;
};
inline FakeWorld& World() {
  static FakeWorld world;
  return world;
}

class FakeForecaster final : public Forecaster {
 public:
  FakeForecaster(ForecastModel model, const Horizons& horizons)
      : model_(model), horizons_(horizons) {}

  ForecastModel model() const override { return model_; }
  int32_t look_back() const override { return 30; }
  bool NeedsFit() const override { return model_ >= ForecastModel::kHoltWinters; }
  bool IsFitted() const override { return fitted_ > 0; }
  Result<FitReport> Fit(const DemandSeries&, const FitOptions&) override {
    ++fitted_;
    return FitReport{.iterations = 3, .loss = 0.5, .what = "fake"};
  }
  double FitSeconds(int64_t minutes) const override { return 1e-6 * static_cast<double>(minutes); }

  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override {
    if (NeedsFit() && !IsFitted()) return false;
    if (model_ == ForecastModel::kLastValue) {
      for (double& ahead : out) ahead = double{history.At(now)};
      return true;
    }
    const auto error = World().errors.find(model_);
    if (error == World().errors.end()) return false;
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t minute = now + horizons_[i];
      const auto number = static_cast<uint64_t>(minute) * 16 + static_cast<uint64_t>(model_);
      out[i] = std::max(0.0, World().demand(minute) + error->second * Noise(number));
    }
    return true;
  }

  void Save(ByteWriter& out) const override {
    out.Byte(static_cast<uint8_t>(model_));
    out.Varint(fitted_);
  }
  Result<void> Restore(ByteReader& in) override {
    const uint8_t model = in.Byte();
    const uint64_t fitted = in.Varint();
    if (in.failed() || model != static_cast<uint8_t>(model_) || fitted == 0) {
      return Fail(ErrorCode::kInvalidArgument, "no weights of a fake");
    }
    fitted_ = fitted;
    return {};
  }
  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  ForecastModel model_;
  Horizons horizons_;
  uint64_t fitted_ = 0;
};

inline std::unique_ptr<Forecaster> MakeFake(ForecastModel model, const Horizons& horizons) {
  return std::make_unique<FakeForecaster>(model, horizons);
}

/// Fits what is due, as whoever owns a track does.
inline std::vector<ForecastModel> FitDue(ForecastTrack& track, int64_t minute,
                                         ForecastTrack::MakeModel make) {
  std::vector<ForecastModel> fitted;
  for (const DueFit& due : track.Due(minute)) {
    const auto forecaster = make(due.model, track.horizons());
    const DemandSeries series = track.Series();
    const auto report = forecaster->Fit(series, {});
    if (!report) {
      track.NoteFailedFit(due.model, minute);
      continue;
    }
    std::string weights;
    ByteWriter out(weights);
    forecaster->Save(out);
    const auto activated = track.Activate({.model = due.model,
                                           .weights = weights,
                                           .trained_minute = series.end() - 1,
                                           .seconds = 0.25,
                                           .report = *report});
    if (activated) fitted.push_back(due.model);
  }
  return fitted;
}

inline std::string Saved(const ForecastTrack& track) {
  std::string bytes;
  ByteWriter out(bytes);
  track.Save(out);
  return bytes;
}

}  // namespace tidemark::forecast
