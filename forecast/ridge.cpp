#include "forecast/ridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "forecast/lag_regression.h"
#include "forecast/look_back.h"
#include "forecast/regression_rows.h"
#include "forecast/ridge_fit.h"
#include "forecast/saved_model.h"

namespace tidemark::forecast {
namespace {

// With look-back and aims they come to six hours.
constexpr int64_t kLeastRows = 240;
constexpr uint8_t kFormat = 1;

/// Empty where one is not finite.
std::vector<float> InFloat(const LagWeights& weights) {
  std::vector<float> packed(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    packed[i] = static_cast<float>(weights[i]);
    if (!std::isfinite(packed[i])) return {};
  }
  return packed;
}

class Ridge final : public Forecaster {
 public:
  Ridge(ForecastModel model, const Horizons& horizons)
      : model_(model),
        lags_(model == ForecastModel::kRidge30 ? 30 : kMostLags),
        horizons_(horizons),
        yesterday_(horizons) {}

  ForecastModel model() const override { return model_; }
  int32_t look_back() const override { return lags_; }
  bool NeedsFit() const override { return true; }
  bool IsFitted() const override { return !plain_.empty(); }
  Result<FitReport> Fit(const DemandSeries& history, const FitOptions& options) override;
  double FitSeconds(int64_t minutes) const override {
    return 1e-3 + static_cast<double>(std::max<int64_t>(minutes, 0)) * lags_ * 8e-9;
  }
  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override;
  void Save(ByteWriter& out) const override;
  Result<void> Restore(ByteReader& in) override;
  size_t MemoryBytes() const override {
    return sizeof(*this) + (plain_.capacity() + daily_.capacity()) * sizeof(float);
  }

 private:
  size_t PlainCount() const {
    return horizons_.size() * (static_cast<size_t>(lags_ - 1) + kClockFeatures);
  }
  size_t DailyCount() const { return PlainCount() + horizons_.size() * yesterday_.shifts().size(); }

  ForecastModel model_;
  int32_t lags_;
  Horizons horizons_;
  YesterdayShifts yesterday_;
  std::vector<float> plain_;
  std::vector<float> daily_;  ///< with yesterday; empty where no horizon uses it
  std::array<bool, kMaxForecastHorizons> uses_yesterday_{};
};

Result<FitReport> Ridge::Fit(const DemandSeries& history, const FitOptions& options) {
  const RegressionRows rows(history, lags_, horizons_);
  if (auto good = rows.Check(kLeastRows); !good) return tl::unexpected(good.error());
  const auto fit = FitRidge(rows, lags_, horizons_, yesterday_, options.stop);
  if (!fit) return tl::unexpected(fit.error());
  auto plain = InFloat(fit->plain);
  auto daily = InFloat(fit->with_yesterday);
  if (plain.empty() || daily.size() != fit->with_yesterday.size()) {
    return Fail(ErrorCode::kInvalidArgument, "history: its values are too large to learn from");
  }
  plain_ = std::move(plain);
  daily_ = std::move(daily);
  uses_yesterday_ = fit->uses_yesterday;
  return FitReport{.iterations = 0,
                   .loss = fit->error_ratio,
                   .what = fmt::format("{} lags{}", lags_, daily_.empty() ? "" : " and yesterday")};
}

bool Ridge::Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const {
  if (!IsFitted()) return false;
  std::array<float, kMostLags> recent{};
  const std::span<float> window(recent.data(), static_cast<size_t>(lags_));
  if (!ReadLookBack(history, now, window)) return false;
  const double newest{window.back()};
  // From the minute before now a day ago to that after the longest horizon.
  std::array<float, kMaxForecastHorizonMinutes + 2 * kAroundYesterday + 1> then{};
  const int64_t newest_then = now - kMinutesADay + horizons_.longest() + kAroundYesterday;
  const std::span<float> day_ago(
      then.data(), static_cast<size_t>(horizons_.longest() + 2 * kAroundYesterday + 1));
  const bool has_daily = !daily_.empty() && ReadLookBack(history, newest_then, day_ago);
  const auto value = [&](int64_t shift) {
    return shift < kMostLags
               ? window[window.size() - 1 - static_cast<size_t>(shift)]
               : day_ago[static_cast<size_t>(kMinutesADay + kAroundYesterday - shift)];
  };
  LagFeatures plain;
  LagFeatures daily;
  WriteLagFeatures(lags_, nullptr, value, now % kMinutesADay, plain);
  if (has_daily) WriteLagFeatures(lags_, &yesterday_, value, now % kMinutesADay, daily);
  for (size_t h = 0; h < horizons_.size(); ++h) {
    const bool with_yesterday = has_daily && uses_yesterday_[h];
    const LagFeatures& features = with_yesterday ? daily : plain;
    const float* const weights = &(with_yesterday ? daily_ : plain_)[h * features.count];
    double change = 0;
    for (size_t i = 0; i < features.count; ++i) change += double{weights[i]} * features.values[i];
    out[h] = std::max(0.0, newest + change);
  }
  return true;
}

void Ridge::Save(ByteWriter& out) const {
  SaveModelHead(model_, horizons_, kFormat, out);
  for (size_t h = 0; h < horizons_.size(); ++h) out.Bool(uses_yesterday_[h]);
  SaveWeights(plain_, out);
  SaveWeights(daily_, out);
}

Result<void> Ridge::Restore(ByteReader& in) {
  if (auto good = ReadModelHead(model_, horizons_, kFormat, in); !good) return good;
  std::array<bool, kMaxForecastHorizons> uses_yesterday{};
  bool any = false;
  for (size_t h = 0; h < horizons_.size(); ++h) {
    uses_yesterday[h] = in.Bool();
    any = any || uses_yesterday[h];
  }
  auto plain = ReadWeights(PlainCount(), in);
  auto daily = ReadWeights(DailyCount(), in);
  if (in.failed() || any == daily.empty() || (any && plain.empty())) {
    return WrongModel(model_, "it is cut short, or its weights are none");
  }
  plain_ = std::move(plain);
  daily_ = std::move(daily);
  uses_yesterday_ = uses_yesterday;
  return {};
}

}  // namespace

std::unique_ptr<Forecaster> MakeRidge(ForecastModel model, const Horizons& horizons) {
  return std::make_unique<Ridge>(model, horizons);
}

}  // namespace tidemark::forecast
