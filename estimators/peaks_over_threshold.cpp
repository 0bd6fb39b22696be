#include "estimators/peaks_over_threshold.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidemark::estimators {
namespace {

/// Beyond rounding: a fit may end at the very largest excess.
constexpr double kRounding = 1e-12;

bool EndsBelow(const ParetoFit& fit, double largest) {
  const std::optional<double> end = fit.End();
  return end && largest > *end * (1 + kRounding);
}

struct Chosen {
  FitMethod method;
  std::optional<ParetoFit> fit;
};

Chosen Choose(std::span<const double> ascending, FitChoice choice) {
  switch (choice) {
    case FitChoice::kMoments: return {FitMethod::kMoments, FitByMoments(ascending)};
    case FitChoice::kWeightedMoments:
      return {FitMethod::kWeightedMoments, FitByWeightedMoments(ascending)};
    case FitChoice::kMaximumLikelihood:
      return {FitMethod::kMaximumLikelihood, FitByLikelihood(ascending)};
    case FitChoice::kAuto: break;
  }
  const auto moments = FitByMoments(ascending);
  const bool doubtful =
      moments && (EndsBelow(*moments, ascending.back()) || moments->gamma > TailFit::kHeavyGamma);
  if (!doubtful) return {FitMethod::kMoments, moments};
  return {FitMethod::kMaximumLikelihood, FitByLikelihood(ascending)};
}

}  // namespace

double TailFit::ExcessRatio() const {
  return observations == 0 ? 0 : static_cast<double>(excesses) / static_cast<double>(observations);
}

std::optional<double> TailFit::End() const {
  if (!IsFitted()) return std::nullopt;
  const std::optional<double> end = fit.End();
  return end ? std::optional(threshold + *end) : std::nullopt;
}

double TailFit::Level(double risk) const { return threshold + fit.Quantile(risk / ExcessRatio()); }

double TailFit::CautiousLevel(double risk) const {
  const double ratio = risk / ExcessRatio();
  if (clusters == 0 || ratio >= 1) return Level(risk);
  const double count = clusters;
  ParetoFit careful = fit;
  if (fit.gamma < 0) {
    const double error = (1 - fit.gamma) / std::sqrt(count);
    careful.gamma = std::min(0.0, fit.gamma + error);
    careful.sigma = fit.sigma / (1 - fit.gamma) * (1 - careful.gamma);  // the mean stays
  }
  return threshold + careful.QuantileOfLog(count * std::expm1(-std::log(ratio) / count));
}

TailFit FitTail(double threshold, std::span<const double> ascending, uint64_t observations,
                double largest, FitChoice choice, uint32_t clusters) {
  TailFit tail;
  tail.threshold = threshold;
  tail.largest = largest;
  tail.observations = observations;
  tail.excesses = static_cast<uint32_t>(ascending.size());
  tail.clusters = clusters;
  if (observations == 0) return tail;
  if (ascending.size() < TailFit::kLeastExcesses) {
    tail.unfitted = Unfitted::kFewExcesses;
    return tail;
  }
  const Chosen chosen = Choose(ascending, choice);
  if (!chosen.fit) {
    tail.unfitted = Unfitted::kNoSpread;
    return tail;
  }
  // A level beyond which there is nothing, though more was seen, is none; only an estimator that
  // was asked for by name comes here with one.
  if (EndsBelow(*chosen.fit, ascending.back())) {
    tail.unfitted = Unfitted::kEndBelowLargest;
    return tail;
  }
  tail.unfitted = Unfitted::kFitted;
  tail.method = chosen.method;
  tail.fit = *chosen.fit;
  return tail;
}

TailFit FitWindow(std::span<const double> ascending, double level, FitChoice choice) {
  const double threshold = InterpolatedQuantile(ascending, level);
  const auto first = std::ranges::upper_bound(ascending, threshold);
  std::vector<double> excesses(first, ascending.end());
  for (double& value : excesses) value -= threshold;
  return FitTail(threshold, excesses, ascending.size(), ascending.back(), choice);
}

double InterpolatedQuantile(std::span<const double> ascending, double p) {
  const double place = std::clamp(p, 0.0, 1.0) * static_cast<double>(ascending.size() - 1);
  const double below = std::floor(place);
  const auto index = static_cast<size_t>(below);
  const double value = ascending[index];
  if (index + 1 >= ascending.size()) return value;
  return value + (place - below) * (ascending[index + 1] - value);
}

}  // namespace tidemark::estimators
