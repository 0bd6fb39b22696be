#include "forecast/network_adam.h"

#include <cassert>
#include <cmath>
#include <numeric>
#include <xtensor/xtensor.hpp>

#include "forecast/kernels.h"

namespace tidemark::forecast {
namespace {

double SumOfSquares(std::span<const float> values) {
  return BestKernels().sum_of_squares(values.size(), values.data());
}

double SumOfSquares(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

struct StepNumbers {
  double scale, beta1, beta2, rate, epsilon;
};

void Move(std::span<float> weights, std::span<const float> gradient, float* m, float* v,
          const StepNumbers& step) {
  const auto narrow = [](double number) { return static_cast<float>(number); };
  BestKernels().adam(weights.size(), weights.data(), gradient.data(), narrow(step.scale), m, v,
                     narrow(step.beta1), narrow(step.beta2), narrow(step.rate),
                     narrow(step.epsilon));
}

void Move(std::span<double> weights, std::span<const double> gradient, double* m, double* v,
          const StepNumbers& step) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const double slope = gradient[i] * step.scale;
    m[i] = step.beta1 * m[i] + (1 - step.beta1) * slope;
    v[i] = step.beta2 * v[i] + (1 - step.beta2) * slope * slope;
    weights[i] -= step.rate * m[i] / (std::sqrt(v[i]) + step.epsilon);
  }
}

}  // namespace

template <class T>
struct Adam<T>::Moments {
  xt::xtensor<T, 1> m;
  xt::xtensor<T, 1> v;
};

template <class T>
Adam<T>::Adam(size_t weights, const AdamOptions& options)
    : options_(options), moments_(std::make_unique<Moments>()) {
  moments_->m.resize({weights});
  moments_->v.resize({weights});
  moments_->m.fill(0);
  moments_->v.fill(0);
}

template <class T>
Adam<T>::~Adam() = default;
template <class T>
Adam<T>::Adam(Adam&&) noexcept = default;
template <class T>
Adam<T>& Adam<T>::operator=(Adam&&) noexcept = default;

template <class T>
bool Adam<T>::Step(std::span<T> weights, std::span<const T> gradient) {
  assert(weights.size() == moments_->m.size() && gradient.size() == weights.size());
  const double norm = std::sqrt(SumOfSquares(gradient));
  if (!std::isfinite(norm)) return false;
  ++steps_;
  const auto steps = static_cast<double>(steps_);
  const double first = 1 - std::pow(options_.beta1, steps);
  const double root = std::sqrt(1 - std::pow(options_.beta2, steps));
  // rate * (m / first) / (sqrt(v) / root + epsilon), with the corrections moved to the numbers.
  StepNumbers step{.scale = 1,
                   .beta1 = options_.beta1,
                   .beta2 = options_.beta2,
                   .rate = options_.rate * root / first,
                   .epsilon = options_.epsilon * root};
  if (options_.clip_norm > 0 && norm > options_.clip_norm) step.scale = options_.clip_norm / norm;
  Move(weights, gradient, moments_->m.data(), moments_->v.data(), step);
  return true;
}

template class Adam<float>;
template class Adam<double>;

}  // namespace tidemark::forecast
