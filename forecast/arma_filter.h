#pragma once
// A Kalman filter for ARMA processes: the exact Gaussian likelihood of a series, gaps allowed, and
// its forecasts (Harvey 1989; Gardner, Harvey and Phillips 1980, AS 154).
//
// The state has max(p, q + 1) parts and starts from its stationary distribution. Once the
// uncertainty about the state has come to rest, which it does within a few dozen values, each
// further one costs O(p + q).

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tidemark::forecast {

inline constexpr size_t kMaxArmaParts = 6;  ///< of the state

/// y[t] = ar[0] y[t-1] + … + e[t] + ma[0] e[t-1] + …, of mean 0.
struct ArmaCoefficients {
  std::vector<double> ar;  ///< at most kMaxArmaParts, stationary
  std::vector<double> ma;  ///< fewer than kMaxArmaParts
};

/// The coefficients of a stationary process whose partial autocorrelations are the tanh of these
/// (Monahan 1984). The same, with the signs turned, makes an invertible moving average.
std::vector<double> StationaryCoefficients(std::span<const double> free);

class ArmaFilter {
 public:
  explicit ArmaFilter(const ArmaCoefficients& coefficients);

  /// False where the process is so close to not being stationary that it has no start.
  bool Good() const { return good_; }
  /// The next value; NaN is a gap.
  void Add(double value);

  size_t count() const { return count_; }  ///< values that were no gaps
  /// Of the errors of one step in units of their expected deviation.
  double SumOfSquares() const { return squares_; }
  /// Sum of the logarithms of the errors' variances, in units of the innovations' variance.
  double LogDeterminant() const { return log_determinant_; }
  /// What the next value is expected to be.
  double Expected() const { return state_[0]; }
  /// Advances the expectation without a value: expected after that.
  void Skip() { Add(kNothing); }

 private:
  static const double kNothing;
  using Vector = std::array<double, kMaxArmaParts>;

  bool Start();
  void Settle();

  size_t parts_;
  Vector ar_{};
  Vector noise_{};  ///< 1, then the moving average
  Vector state_{};
  std::array<Vector, kMaxArmaParts> spread_{};  ///< of the state before the next value
  Vector gain_{};
  bool settled_ = false;
  bool good_ = false;
  size_t count_ = 0;
  double squares_ = 0;
  double log_determinant_ = 0;
};

}  // namespace tidemark::forecast
