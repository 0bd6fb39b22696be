#include "estimators/pareto_fit.h"

#include <cmath>
#include <limits>

namespace tidemark::estimators {
namespace {

/// Below this the exponential is nearer than rounding lets the power be.
constexpr double kNoShape = 1e-9;

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<ParetoFit> Checked(double gamma, double sigma) {
  if (!std::isfinite(gamma) || !std::isfinite(sigma) || !(sigma > 0)) return std::nullopt;
  return ParetoFit{gamma, sigma};
}

}  // namespace

double ParetoFit::Quantile(double ratio) const { return QuantileOfLog(-std::log(ratio)); }

double ParetoFit::QuantileOfLog(double log_return) const {
  if (std::abs(gamma) < kNoShape) return sigma * log_return;
  return sigma * std::expm1(gamma * log_return) / gamma;
}

std::optional<double> ParetoFit::End() const {
  if (!(gamma < 0)) return std::nullopt;
  return -sigma / gamma;
}

double ParetoFit::LogLikelihood(std::span<const double> excesses) const {
  const auto count = static_cast<double>(excesses.size());
  if (std::abs(gamma) < kNoShape) {
    return -count * (std::log(sigma) + MeanOf(excesses) / sigma);
  }
  const double x = gamma / sigma;
  double sum = 0;
  for (const double excess : excesses) {
    // At gamma = -1 the density is 1/sigma up to the end, the end included.
    const double inside = 1 + x * excess;
    if (inside < 0 || (inside == 0 && gamma != -1)) {
      return -std::numeric_limits<double>::infinity();
    }
    if (gamma != -1) sum += std::log1p(x * excess);
  }
  return -count * std::log(sigma) - (1 + 1 / gamma) * sum;
}

std::optional<ParetoFit> FitByMoments(std::span<const double> excesses) {
  if (excesses.size() < 2) return std::nullopt;
  const double mean = MeanOf(excesses);
  double squares = 0;
  for (const double excess : excesses) squares += (excess - mean) * (excess - mean);
  const double variance = squares / static_cast<double>(excesses.size() - 1);
  if (!(mean > 0) || !(variance > 0)) return std::nullopt;
  const double ratio = mean * mean / variance;
  return Checked((1 - ratio) / 2, mean * (ratio + 1) / 2);
}

std::optional<ParetoFit> FitByWeightedMoments(std::span<const double> ascending) {
  if (ascending.size() < 2 || !(ascending.front() < ascending.back())) return std::nullopt;
  const auto count = static_cast<double>(ascending.size());
  double first = 0;
  for (size_t i = 0; i < ascending.size(); ++i) {
    first += ascending[i] * (count - static_cast<double>(i + 1)) / (count - 1);
  }
  first /= count;
  const double mean = MeanOf(ascending);
  const double difference = mean - 2 * first;
  if (!(difference > 0)) return std::nullopt;
  return Checked(2 - mean / difference, 2 * mean * first / difference);
}

std::optional<ParetoFit> FitBy(FitMethod method, std::span<const double> ascending) {
  switch (method) {
    case FitMethod::kMoments: return FitByMoments(ascending);
    case FitMethod::kWeightedMoments: return FitByWeightedMoments(ascending);
    case FitMethod::kMaximumLikelihood: return FitByLikelihood(ascending);
  }
  return std::nullopt;
}

}  // namespace tidemark::estimators
