#include "forecast/arima_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "forecast/nelder_mead.h"

namespace tidemark::forecast {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kLeastMore = 10;  ///< differences than coefficients

std::vector<double> Differences(std::span<const double> values, int times) {
  std::vector<double> differences(values.begin(), values.end());
  for (int i = 0; i < times; ++i) {
    for (size_t k = 0; k + 1 < differences.size(); ++k) {
      differences[k] = differences[k + 1] - differences[k];
    }
    if (!differences.empty()) differences.pop_back();
  }
  return differences;
}

/// Centred, unless it is to have no mean, and of deviation 1.
struct Standard {
  std::vector<double> values;
  double mean = 0;
  double scale = 0;
  size_t count = 0;
};

Standard Standardise(std::vector<double> values, bool has_mean) {
  Standard standard;
  double sum = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++standard.count;
  }
  const double mean = sum / static_cast<double>(standard.count);
  double squares = 0;
  for (const double value : values) {
    if (!std::isnan(value)) squares += (value - mean) * (value - mean);
  }
  standard.scale = std::sqrt(squares / static_cast<double>(standard.count));
  standard.mean = has_mean ? mean : 0;
  for (double& value : values) value = (value - standard.mean) / standard.scale;
  standard.values = std::move(values);
  return standard;
}

/// A point of the search: partial autocorrelations, then the mean.
class Likelihood {
 public:
  Likelihood(const Standard& series, const ArimaOrder& order, bool has_mean)
      : series_(series), order_(order), has_mean_(has_mean) {}

  size_t size() const { return size_t{order_.p} + order_.q + (has_mean_ ? 1 : 0); }
  ArmaCoefficients Coefficients(const std::vector<double>& at) const {
    const std::span all(at);
    ArmaCoefficients made;
    made.ar = StationaryCoefficients(all.subspan(0, order_.p));
    made.ma = StationaryCoefficients(all.subspan(order_.p, order_.q));
    for (double& value : made.ma) value = -value;
    return made;
  }
  double Mean(const std::vector<double>& at) const { return has_mean_ ? at.back() : 0; }

  struct Value {
    double log_likelihood = -kInfinity;
    double comparable = -kInfinity;
    double variance = 0;
  };
  Value At(const std::vector<double>& at) const {
    for (const double part : at) {
      if (!(std::abs(part) < 12)) return {};  // tanh has no more digits
    }
    ArmaFilter filter(Coefficients(at));
    if (!filter.Good()) return {};
    const double mean = Mean(at);
    double first_square = 0;
    double first_log = 0;
    for (const double value : series_.values) {
      filter.Add(value - mean);
      if (filter.count() == 1 && first_log == 0 && first_square == 0) {
        first_square = filter.SumOfSquares();
        first_log = filter.LogDeterminant();
      }
    }
    const auto count = static_cast<double>(filter.count());
    Value value;
    value.variance = filter.SumOfSquares() / count;
    if (!(value.variance > 0) || !std::isfinite(value.variance)) return {};
    const double log_variance = std::log(2 * std::numbers::pi * value.variance);
    value.log_likelihood = -0.5 * (count * (log_variance + 1) + filter.LogDeterminant());
    value.comparable =
        value.log_likelihood + 0.5 * (log_variance + first_log + first_square / value.variance);
    return value;
  }

 private:
  const Standard& series_;
  ArimaOrder order_;
  bool has_mean_;
};

/// Points that fill a cube evenly (Halton 1960), in (-1.5, 1.5).
std::vector<double> StartPoint(size_t number, size_t size) {
  constexpr std::array kPrimes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
  std::vector<double> point(size, 0);
  for (size_t i = 0; i < size; ++i) {
    double part = 0;
    double unit = 1;
    for (size_t rest = number; rest > 0; rest /= static_cast<size_t>(kPrimes[i])) {
      unit /= kPrimes[i];
      part += unit * static_cast<double>(rest % static_cast<size_t>(kPrimes[i]));
    }
    point[i] = number == 0 ? 0 : 3 * part - 1.5;
  }
  return point;
}

}  // namespace

std::string ToString(const ArimaOrder& order) {
  return fmt::format("ARIMA({},{},{})", order.p, order.d, order.q);
}

double ArimaFit::CorrectedAic() const {
  const auto k = static_cast<double>(parameters);
  const double n = static_cast<double>(count) - (order.d == 0 ? 1 : 0);
  return -2 * comparable + 2 * k + 2 * k * (k + 1) / std::max(1.0, n - k - 1);
}

Result<ArimaFit> FitArima(std::span<const double> values, const ArimaOrder& order,
                          const ArimaFitOptions& options) {
  const Standard series = Standardise(Differences(values, order.d), options.has_mean);
  const size_t needed = size_t{order.p} + order.q + kLeastMore;
  if (series.count < needed) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("history: {} differences are known, needed: {}", series.count, needed));
  }
  if (!(series.scale > 0) || !std::isfinite(series.scale)) {
    return Fail(ErrorCode::kInvalidArgument, "history: the demand does not move");
  }
  const Likelihood likelihood(series, order, options.has_mean);
  const auto against = [&](const std::vector<double>& at) {
    return -likelihood.At(at).log_likelihood;
  };
  Minimum best{std::vector<double>(likelihood.size(), 0), kInfinity};
  if (best.at.empty()) {
    best.value = against(best.at);
  } else {
    for (size_t start = 0; start < options.starts; ++start) {
      if (options.stop.stop_requested()) {
        return Fail(ErrorCode::kUnavailable, "the fit was stopped");
      }
      std::vector<double> point = StartPoint(start, likelihood.size());
      if (options.has_mean) point.back() = 0;
      auto found = NelderMead(against, point, {0.5, 1e-5, options.most_calls});
      if (found.value < best.value) best = std::move(found);
    }
    // A simplex that has shrunk at the wrong place finds out from a fresh one.
    for (int round = 0; round < 4; ++round) {
      auto found = NelderMead(against, best.at, {0.1, 1e-9, options.most_calls});
      const bool better = found.value < best.value - 1e-7;
      if (found.value < best.value) best = std::move(found);
      if (!better) break;
    }
  }
  if (!std::isfinite(best.value)) {
    return Fail(ErrorCode::kInvalidArgument, "history: no process of this order fits it");
  }
  const auto value = likelihood.At(best.at);
  const double unit = std::log(series.scale);
  ArimaFit fit;
  fit.order = order;
  fit.coefficients = likelihood.Coefficients(best.at);
  fit.mean = series.mean + series.scale * likelihood.Mean(best.at);
  fit.variance = value.variance * series.scale * series.scale;
  fit.count = series.count;
  fit.log_likelihood = value.log_likelihood - unit * static_cast<double>(series.count);
  fit.comparable = order.d == 0 ? value.comparable - unit * static_cast<double>(series.count - 1)
                                : fit.log_likelihood;
  fit.parameters = likelihood.size() + 1;
  return fit;
}

std::vector<ArimaStep> ForecastArima(const ArimaFit& fit, std::span<const double> values,
                                     size_t steps) {
  ArmaFilter filter(fit.coefficients);
  for (const double value : Differences(values, fit.order.d)) filter.Add(value - fit.mean);
  // The last value of the series and of each difference: what sums are taken up from.
  std::array<double, 3> last{};
  for (size_t i = 0; i < fit.order.d; ++i) {
    const auto tail = values.last(fit.order.d);
    last[i] = Differences(tail, static_cast<int>(i)).back();
  }
  // Weights of innovations: of the ARMA process, then summed d times.
  std::vector<double> weights(steps, 0);
  const auto& [ar, ma] = fit.coefficients;
  for (size_t j = 0; j < steps; ++j) {
    weights[j] = j == 0 ? 1 : (j <= ma.size() ? ma[j - 1] : 0);
    for (size_t i = 1; i <= std::min(j, ar.size()); ++i) weights[j] += ar[i - 1] * weights[j - i];
  }
  for (int times = 0; times < fit.order.d; ++times) {
    for (size_t j = 1; j < steps; ++j) weights[j] += weights[j - 1];
  }
  std::vector<ArimaStep> forecast(steps);
  double squares = 0;
  for (size_t h = 0; h < steps; ++h) {
    double value = filter.Expected() + fit.mean;
    filter.Skip();
    for (size_t i = fit.order.d; i-- > 0;) value = last[i] += value;
    squares += weights[h] * weights[h];
    forecast[h] = {value, std::sqrt(fit.variance * squares)};
  }
  return forecast;
}

}  // namespace tidemark::forecast
