#include "forecast/arma_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::forecast {
namespace {

/// Above the innovations' variance; less is at rest.
constexpr double kAtRest = 1e-11;
constexpr int kDoublings = 60;

}  // namespace

const double ArmaFilter::kNothing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> StationaryCoefficients(std::span<const double> free) {
  std::vector<double> coefficients;
  for (const double value : free) {
    const double partial = std::tanh(value);
    const std::vector<double> before = coefficients;
    for (size_t i = 0; i < before.size(); ++i) {
      coefficients[i] -= partial * before[before.size() - 1 - i];
    }
    coefficients.push_back(partial);
  }
  return coefficients;
}

ArmaFilter::ArmaFilter(const ArmaCoefficients& coefficients)
    : parts_(std::max(coefficients.ar.size(), coefficients.ma.size() + 1)) {
  std::copy(coefficients.ar.begin(), coefficients.ar.end(), ar_.begin());
  noise_[0] = 1;
  std::copy(coefficients.ma.begin(), coefficients.ma.end(), noise_.begin() + 1);
  good_ = Start();
}

/// The stationary spread P = T P T' + R R' by doubling: each round adds as many terms of
/// Σ T^k R R' T'^k as there are.
bool ArmaFilter::Start() {
  using Matrix = std::array<Vector, kMaxArmaParts>;
  const auto times = [this](const Matrix& a, const Matrix& b, bool transposed) {
    Matrix product{};
    for (size_t i = 0; i < parts_; ++i) {
      for (size_t j = 0; j < parts_; ++j) {
        for (size_t k = 0; k < parts_; ++k) {
          product[i][j] += a[i][k] * (transposed ? b[j][k] : b[k][j]);
        }
      }
    }
    return product;
  };
  Matrix power{};
  for (size_t i = 0; i < parts_; ++i) {
    power[i][0] = ar_[i];
    if (i + 1 < parts_) power[i][i + 1] = 1;
    for (size_t j = 0; j < parts_; ++j) spread_[i][j] = noise_[i] * noise_[j];
  }
  for (int round = 0; round < kDoublings; ++round) {
    const Matrix more = times(times(power, spread_, false), power, true);
    double grown = 0;
    for (size_t i = 0; i < parts_; ++i) {
      for (size_t j = 0; j < parts_; ++j) spread_[i][j] += more[i][j];
      grown = std::max(grown, more[i][i] / (spread_[i][i] + 1e-300));
    }
    if (!std::isfinite(spread_[0][0]) || spread_[0][0] > 1e12) return false;
    if (grown < 1e-15) return true;
    power = times(power, power, false);
  }
  return false;
}

void ArmaFilter::Add(double value) {
  const bool known = !std::isnan(value);
  double error = 0;
  if (known) {
    error = value - state_[0];
    const double variance = settled_ ? 1 : spread_[0][0];
    ++count_;
    squares_ += error * error / variance;
    if (!settled_) log_determinant_ += std::log(variance);
  } else {
    if (settled_) {  // what is known of the state is what the last innovation leaves open
      for (size_t i = 0; i < parts_; ++i) {
        for (size_t j = 0; j < parts_; ++j) spread_[i][j] = noise_[i] * noise_[j];
      }
    }
    settled_ = false;
  }
  if (!settled_) Settle();
  const double newest = state_[0];
  for (size_t i = 0; i < parts_; ++i) {
    const double next = i + 1 < parts_ ? state_[i + 1] : 0;
    state_[i] = ar_[i] * newest + next + (known ? gain_[i] * error : 0);
  }
  if (settled_) return;
  // The spread moves on: T P T' + R R', less what the value told.
  const double variance = spread_[0][0];
  std::array<Vector, kMaxArmaParts> moved{};  // T P
  for (size_t i = 0; i < parts_; ++i) {
    for (size_t j = 0; j < parts_; ++j) {
      moved[i][j] = ar_[i] * spread_[0][j] + (i + 1 < parts_ ? spread_[i + 1][j] : 0);
    }
  }
  for (size_t i = 0; i < parts_; ++i) {
    for (size_t j = 0; j < parts_; ++j) {
      spread_[i][j] = ar_[j] * moved[i][0] + (j + 1 < parts_ ? moved[i][j + 1] : 0) +
                      noise_[i] * noise_[j] - (known ? gain_[i] * gain_[j] * variance : 0);
    }
  }
  if (known && spread_[0][0] - 1 < kAtRest) {
    for (size_t i = 0; i < parts_; ++i) {
      for (size_t j = 0; j < parts_; ++j) spread_[i][j] = noise_[i] * noise_[j];
    }
    Settle();
    settled_ = true;
  }
}

/// The gain of the value that comes next.
void ArmaFilter::Settle() {
  for (size_t i = 0; i < parts_; ++i) {
    const double moved = ar_[i] * spread_[0][0] + (i + 1 < parts_ ? spread_[i + 1][0] : 0);
    gain_[i] = moved / spread_[0][0];
  }
}

}  // namespace tidemark::forecast
