#include "forecast/arima.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "forecast/arima_fit.h"
#include "forecast/look_back.h"
#include "forecast/saved_model.h"

namespace tidemark::forecast {
namespace {

constexpr size_t kLookBack = 120;
constexpr size_t kFitMinutes = 1440;
constexpr int64_t kLeastMinutes = 360;
constexpr uint8_t kFormat = 1;
/// What short autocorrelations of a minute's demand come to, from no more to fairly involved.
constexpr std::array<ArimaOrder, 8> kOrders = {
    {{1, 0, 0}, {1, 0, 1}, {2, 0, 1}, {0, 1, 1}, {1, 1, 0}, {1, 1, 1}, {2, 1, 1}, {2, 1, 2}}};

class Arima final : public Forecaster {
 public:
  explicit Arima(const Horizons& horizons) : horizons_(horizons) {}

  ForecastModel model() const override { return ForecastModel::kArima; }
  int32_t look_back() const override { return static_cast<int32_t>(kLookBack); }
  bool NeedsFit() const override { return true; }
  bool IsFitted() const override { return fit_.has_value(); }
  Result<FitReport> Fit(const DemandSeries& history, const FitOptions& options) override;
  double FitSeconds(int64_t minutes) const override {
    return 2e-4 *
           static_cast<double>(std::clamp<int64_t>(minutes, 0, static_cast<int64_t>(kFitMinutes)));
  }
  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override;
  void Save(ByteWriter& out) const override;
  Result<void> Restore(ByteReader& in) override;
  size_t MemoryBytes() const override {
    const size_t numbers =
        fit_ ? fit_->coefficients.ar.capacity() + fit_->coefficients.ma.capacity() : 0;
    return sizeof(*this) + numbers * sizeof(double);
  }

 private:
  Horizons horizons_;
  std::optional<ArimaFit> fit_;
};

Result<FitReport> Arima::Fit(const DemandSeries& history, const FitOptions& options) {
  const size_t size = std::min(history.values.size(), kFitMinutes);
  const std::vector<double> values(history.values.end() - static_cast<int64_t>(size),
                                   history.values.end());
  const auto known =
      std::count_if(values.begin(), values.end(), [](double value) { return !std::isnan(value); });
  if (known < kLeastMinutes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("history: {} minutes of the newest day are known, needed: {}", known,
                            kLeastMinutes));
  }
  std::optional<ArimaFit> best;
  std::optional<Error> error;
  for (const ArimaOrder& order : kOrders) {
    auto fit =
        FitArima(values, order,
                 {.has_mean = order.d == 0, .starts = 2, .most_calls = 200, .stop = options.stop});
    if (!fit && fit.error().code == ErrorCode::kUnavailable) return tl::unexpected(fit.error());
    if (!fit) {
      error = std::move(fit.error());
    } else if (!best || fit->CorrectedAic() < best->CorrectedAic()) {
      best = *std::move(fit);
    }
  }
  if (!best) return tl::unexpected(*std::move(error));
  fit_ = std::move(best);
  return FitReport{.iterations = 0, .loss = 0, .what = ToString(fit_->order)};
}

bool Arima::Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const {
  if (!fit_) return false;
  std::array<float, kLookBack> window{};
  if (!ReadLookBack(history, now, window)) return false;
  const std::array<double, kLookBack> values = [&] {
    std::array<double, kLookBack> wide{};
    std::copy(window.begin(), window.end(), wide.begin());
    return wide;
  }();
  const auto steps = ForecastArima(*fit_, values, static_cast<size_t>(horizons_.longest()));
  for (size_t h = 0; h < horizons_.size(); ++h) {
    const double said = steps[static_cast<size_t>(horizons_[h] - 1)].expected;
    if (!std::isfinite(said)) return false;
    out[h] = std::max(0.0, said);
  }
  return true;
}

void Arima::Save(ByteWriter& out) const {
  SaveModelHead(model(), horizons_, kFormat, out);
  out.Bool(fit_.has_value());
  if (!fit_) return;
  out.Byte(fit_->order.p);
  out.Byte(fit_->order.d);
  out.Byte(fit_->order.q);
  for (const double value : fit_->coefficients.ar) out.Double(value);
  for (const double value : fit_->coefficients.ma) out.Double(value);
  out.Double(fit_->mean);
  out.Double(fit_->variance);
}

Result<void> Arima::Restore(ByteReader& in) {
  if (auto good = ReadModelHead(model(), horizons_, kFormat, in); !good) return good;
  if (!in.Bool()) {
    if (in.failed()) return WrongModel(model(), "it is cut short");
    fit_.reset();
    return {};
  }
  ArimaFit fit;
  fit.order.p = in.Byte();
  fit.order.d = in.Byte();
  fit.order.q = in.Byte();
  if (std::find(kOrders.begin(), kOrders.end(), fit.order) == kOrders.end()) {
    return WrongModel(model(), "its order is none that is tried");
  }
  bool finite = true;
  const auto read = [&] {
    const double value = in.Double();
    finite = finite && std::isfinite(value);
    return value;
  };
  for (int i = 0; i < fit.order.p; ++i) fit.coefficients.ar.push_back(read());
  for (int i = 0; i < fit.order.q; ++i) fit.coefficients.ma.push_back(read());
  fit.mean = read();
  fit.variance = read();
  if (in.failed()) return WrongModel(model(), "it is cut short");
  if (!finite || !(fit.variance >= 0) || !ArmaFilter(fit.coefficients).Good()) {
    return WrongModel(model(), "its process is not stationary, or not finite");
  }
  fit_ = std::move(fit);
  return {};
}

}  // namespace

std::unique_ptr<Forecaster> MakeArima(const Horizons& horizons) {
  return std::make_unique<Arima>(horizons);
}

}  // namespace tidemark::forecast
