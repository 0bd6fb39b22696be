// Maximum likelihood of the generalised Pareto distribution, by Grimshaw's reduction.
//
// With x = gamma / sigma, the best gamma for a given x is mean ln(1 + x y), so that one unknown is
// left. Stationary points solve  mean 1/(1 + x y) * (1 + mean ln(1 + x y)) = 1;  x = 0, the
// exponential, always does. The others lie in (-1/y_max, 0) and (0, 2 (mean - y_min) / y_min^2).
// Excesses are divided by their mean first: the search must not depend on their unit.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "estimators/pareto_fit.h"

namespace tidemark::estimators {
namespace {

/// Where x is looked at for a change of sign: from 0 outwards by this factor.
constexpr double kSmallest = 1e-4;
constexpr double kFactor = 2.0;
/// Heavier tails than this give (gamma is about 10 there) are no tails.
constexpr double kLargest = 1e6;
constexpr int kMaxSteps = 100;
constexpr size_t kFactorsPerLog = 16;

class Likelihood {
 public:
  /// `excesses` have the mean 1.
  explicit Likelihood(std::span<const double> excesses)
      : excesses_(excesses), count_(static_cast<double>(excesses.size())) {
    const auto [least, most] = std::ranges::minmax(excesses);
    least_ = least;
    most_ = most;
    best_ = {0, 1};
    best_value_ = -count_;  // the exponential: -n (1 + ln mean)
    Offer({-1, most_}, -count_ * std::log(most_));
  }

  double most() const { return most_; }
  double least() const { return least_; }
  const ParetoFit& best() const { return best_; }

  double Gamma(double x) const { return SumsAt(x).logs / count_; }

  /// The equation's left side less its right.
  double Equation(double x) const {
    const Sums sums = SumsAt(x);
    return sums.parts / count_ * (1 + sums.logs / count_) - 1;
  }

  /// `x` is a stationary point.
  void OfferRoot(double x) {
    const double gamma = Gamma(x);
    const double sigma = gamma / x;
    if (gamma < -1 || !(sigma > 0)) return;
    Offer({gamma, sigma}, -count_ * (std::log(sigma) + gamma + 1));
  }

 private:
  struct Sums {
    double logs = 0;   // of 1 + x y
    double parts = 0;  // of 1 / (1 + x y)
  };

  /// One logarithm of a product for several factors. Each is from 1e-9 (SearchBounded) to 1e9
  /// (kLargest, and excesses of up to a thousand times the mean), so that no product leaves the
  /// range of a double.
  Sums SumsAt(double x) const {
    Sums sums;
    for (size_t i = 0; i < excesses_.size();) {
      double product = 1;
      for (const size_t end = std::min(i + kFactorsPerLog, excesses_.size()); i < end; ++i) {
        const double factor = 1 + x * excesses_[i];
        product *= factor;
        sums.parts += 1 / factor;
      }
      sums.logs += std::log(product);
    }
    return sums;
  }

  void Offer(const ParetoFit& fit, double value) {
    if (!(value > best_value_)) return;
    best_value_ = value;
    best_ = fit;
  }

  const std::span<const double> excesses_;
  const double count_;
  double least_ = 0;
  double most_ = 0;
  ParetoFit best_;
  double best_value_ = 0;
};

/// The root between two ends with different signs: false position with the Illinois correction,
/// which halves the value of an end that stays.
double Root(const Likelihood& likelihood, double low, double at_low, double high, double at_high) {
  double last = low;
  for (int step = 0; step < kMaxSteps; ++step) {
    double middle = (low * at_high - high * at_low) / (at_high - at_low);
    if (!(middle > std::min(low, high) && middle < std::max(low, high))) {
      middle = low + (high - low) / 2;
    }
    if (std::abs(middle - last) <= 1e-13 * std::abs(middle)) return middle;
    last = middle;
    const double value = likelihood.Equation(middle);
    if (value == 0) return middle;
    if ((value < 0) == (at_high < 0)) {
      high = middle;
      at_high = value;
      at_low /= 2;
    } else {
      low = high;
      at_low = at_high;
      high = middle;
      at_high = value;
    }
  }
  return last;
}

/// Offers the roots between neighbours of `places`, which all are on one side of 0.
void OfferRoots(Likelihood& likelihood, std::span<const double> places) {
  double before = 0;
  double at_before = 0;
  for (const double place : places) {
    const double value = likelihood.Equation(place);
    if (!std::isfinite(value)) break;
    if (at_before != 0 && (value < 0) != (at_before < 0)) {
      likelihood.OfferRoot(Root(likelihood, before, at_before, place, value));
    }
    before = place;
    at_before = value;
  }
}

/// From 0 to the place beyond which gamma is below -1; there the likelihood is of no interest.
void SearchBounded(Likelihood& likelihood) {
  const double pole = -1 / likelihood.most();
  std::array<double, 40> places{};
  size_t count = 0;
  for (double x = kSmallest; x < 0.5 && count < places.size(); x *= kFactor) {
    places[count++] = pole * x;
  }
  for (double rest = 0.5; rest > 1e-9 && count < places.size(); rest /= kFactor) {
    const double x = pole * (1 - rest);
    places[count++] = x;
    if (likelihood.Gamma(x) < -1) break;
  }
  OfferRoots(likelihood, std::span(places).first(count));
}

void SearchHeavy(Likelihood& likelihood) {
  const double least = likelihood.least();
  const double end = std::min(kLargest, 2 * (1 - least) / (least * least));
  std::array<double, 48> places{};
  size_t count = 0;
  for (double x = kSmallest; x < end && count + 1 < places.size(); x *= kFactor) {
    places[count++] = x;
  }
  places[count++] = end;
  OfferRoots(likelihood, std::span(places).first(count));
}

}  // namespace

std::optional<ParetoFit> FitByLikelihood(std::span<const double> excesses) {
  if (excesses.size() < 2) return std::nullopt;
  double sum = 0;
  for (const double excess : excesses) sum += excess;
  const double mean = sum / static_cast<double>(excesses.size());
  if (!(mean > 0) || !std::isfinite(mean)) return std::nullopt;
  std::vector<double> scaled(excesses.begin(), excesses.end());
  for (double& excess : scaled) excess /= mean;
  Likelihood likelihood(scaled);
  if (!(likelihood.least() > 0) || !(likelihood.least() < likelihood.most())) return std::nullopt;
  SearchBounded(likelihood);
  SearchHeavy(likelihood);
  ParetoFit best = likelihood.best();
  best.sigma *= mean;
  return best;
}

}  // namespace tidemark::estimators
