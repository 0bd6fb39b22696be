#include "forecast/network_forecaster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "forecast/lstm_single.h"
#include "forecast/network_fit.h"
#include "forecast/network_fitted.h"

namespace tidemark::forecast {
namespace {

/// A cautious rate of training of one core, in operations a second (scripts/bench forecast).
constexpr double kOperationsPerSecond = 4e10;

}  // namespace

NetworkForecaster::NetworkForecaster(ForecastModel model, const Horizons& horizons,
                                     const NetworkOptions& options)
    : model_(model), horizons_(horizons), options_(options) {
  assert(model == ForecastModel::kLstm || model == ForecastModel::kBiLstm);
  assert(horizons.size() > 0 && options.hidden >= 1 && options.look_back >= 1 &&
         options.batch >= 1 && options.check_every >= 1);
}

NetworkForecaster::~NetworkForecaster() = default;

bool NetworkForecaster::IsFitted() const { return fitted_ != nullptr; }

NetworkShape NetworkForecaster::Shape() const {
  return {.hidden = options_.hidden,
          .outputs = options_.recursive ? 1 : static_cast<int32_t>(horizons_.size()),
          .both_directions = model_ == ForecastModel::kBiLstm,
          .readout = options_.readout};
}

std::vector<int32_t> NetworkForecaster::Targets() const {
  if (options_.recursive) return {1};
  std::vector<int32_t> targets;
  for (size_t i = 0; i < horizons_.size(); ++i) targets.push_back(horizons_[i]);
  return targets;
}

Result<FitReport> NetworkForecaster::Fit(const DemandSeries& history, const FitOptions& options) {
  LstmBuffers buffers;
  return FitWith(buffers, history, options);
}

Result<FitReport> NetworkForecaster::FitWith(LstmBuffers& buffers, const DemandSeries& history,
                                             const FitOptions& options) {
  const auto data = PrepareData(history, options_, Targets());
  if (!data) return tl::unexpected(data.error());
  const NetworkShape shape = Shape();
  NetworkFit fit(options_, shape, *data, fitted_ ? fitted_->Weights() : std::span<const float>{},
                 options.seed);
  if (!fit.Run(buffers.Of(shape, options_.look_back, options_.batch), options)) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("training of {} was stopped after {} iterations", ToString(model_),
                            fit.iterations()));
  }
  if (!std::isfinite(fit.loss())) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("training of {} came to no finite loss", ToString(model_)));
  }
  fitted_ = std::make_unique<const Fitted>(Fitted{data->scaling, fit.weights()});
  return FitReport{.iterations = static_cast<uint32_t>(fit.iterations()),
                   .loss = fit.loss(),
                   .what = fmt::format("{} units, {} minutes back, {} windows", options_.hidden,
                                       options_.look_back, data->training.size())};
}

double NetworkForecaster::FitSeconds(int64_t minutes) const {
  const NetworkShape shape = Shape();
  if (minutes <= options_.look_back) return 0;
  // Forward, backward and the gradient are as much work each; judging costs a tenth more.
  const double step = 3 * 2.0 * static_cast<double>(shape.DirectionSize()) * shape.directions();
  const double iteration = step * options_.batch * options_.look_back * 1.1;
  const double iterations = options_.max_iterations * (IsFitted() ? options_.warm_ratio : 1);
  return iterations * iteration / kOperationsPerSecond;
}

bool NetworkForecaster::Forecast(const DemandHistory& history, int64_t now,
                                 std::span<double> out) const {
  assert(out.size() == horizons_.size());
  if (!fitted_) return false;
  const auto length = static_cast<size_t>(options_.look_back);
  std::vector<float> known(length + 1);
  history.Window(now, known);
  const MinMax& input = fitted_->scaling.input;
  const auto future = options_.recursive ? static_cast<size_t>(horizons_.longest()) : size_t{0};
  std::vector<float> changes(length + future);
  for (size_t i = 0; i < length; ++i) {
    const double change = double{known[i + 1]} - double{known[i]};
    if (!std::isfinite(change)) return false;
    changes[i] = input.Scale(change);
  }
  const double demand = double{known.back()};
  const NetworkShape shape = Shape();
  std::vector<float> said(static_cast<size_t>(shape.outputs));
  std::vector<double> forecast;
  if (!options_.recursive) {
    ForwardSingle(shape, fitted_->Weights(), changes, said);
    for (size_t i = 0; i < out.size(); ++i) {
      forecast.push_back(demand + fitted_->scaling.outputs[i].Back(double{said[i]}));
    }
  } else {
    double level = demand;
    size_t horizon = 0;
    for (size_t ahead = 1; ahead <= future; ++ahead) {
      ForwardSingle(shape, fitted_->Weights(), std::span(changes).subspan(ahead - 1, length), said);
      const double change = fitted_->scaling.outputs[0].Back(double{said[0]});
      changes[length + ahead - 1] = input.Scale(change);
      level += change;
      if (static_cast<int32_t>(ahead) == horizons_[horizon]) {
        forecast.push_back(level);
        ++horizon;
      }
    }
  }
  if (!std::ranges::all_of(forecast, [](double value) { return std::isfinite(value); })) {
    return false;
  }
  std::ranges::transform(forecast, out.begin(), [](double value) { return std::max(0.0, value); });
  return true;
}

size_t NetworkForecaster::MemoryBytes() const {
  size_t bytes = sizeof *this;
  if (fitted_) {
    bytes += sizeof *fitted_ + fitted_->weights.size() * sizeof(float) +
             fitted_->scaling.outputs.capacity() * sizeof(MinMax);
  }
  return bytes;
}

std::unique_ptr<Forecaster> MakeNetwork(ForecastModel model, const Horizons& horizons) {
  return std::make_unique<NetworkForecaster>(model, horizons, NetworkOptions{});
}

}  // namespace tidemark::forecast
