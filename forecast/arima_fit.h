#pragma once
// ARIMA(p,d,q) by exact Gaussian likelihood.
//
// The series is differenced d times; the likelihood is that of the differences, which leaves out
// the first d values as a diffuse start does. Stationary and invertible by construction: what is
// searched over are partial autocorrelations (arma_filter.h). The innovations' variance is
// concentrated out; the search starts from several points, as the likelihood may have several
// maxima. Deterministic.

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "forecast/arma_filter.h"
#include "model/result.h"

namespace tidemark::forecast {

struct ArimaOrder {
  uint8_t p = 0;  ///< at most 5
  uint8_t d = 0;  ///< at most 2
  uint8_t q = 0;  ///< at most 5

  friend bool operator==(const ArimaOrder&, const ArimaOrder&) = default;
};

std::string ToString(const ArimaOrder& order);

struct ArimaFit {
  ArimaOrder order;
  ArmaCoefficients coefficients;
  double mean = 0;  ///< of the process; 0 where it has none
  double variance = 0;
  double log_likelihood = 0;
  /// The same without the first value of an undifferenced series, to be compared with one that is
  /// differenced once.
  double comparable = 0;
  size_t count = 0;       ///< of differences that are known
  size_t parameters = 0;  ///< with the variance
  /// Akaike's criterion, corrected for few values (Hurvich and Tsai 1989), of `comparable`.
  double CorrectedAic() const;
};

struct ArimaFitOptions {
  bool has_mean = false;
  size_t starts = 12;
  size_t most_calls = 600;  ///< of the likelihood, from each start
  std::stop_token stop{};
};

/// NaN for gaps. kInvalidArgument: fewer than p + q + 10 differences, or they are all the same;
/// kUnavailable: stopped.
Result<ArimaFit> FitArima(std::span<const double> values, const ArimaOrder& order,
                          const ArimaFitOptions& options);

struct ArimaStep {
  double expected = 0;
  double deviation = 0;  ///< of the error, were the model true
};
/// The steps after the values, of which the last d are known.
std::vector<ArimaStep> ForecastArima(const ArimaFit& fit, std::span<const double> values,
                                     size_t steps);

}  // namespace tidemark::forecast
