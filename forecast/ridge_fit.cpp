#include "forecast/ridge_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tidemark::forecast {
namespace {

// Half a day of rows that know their yesterday before it is looked at.
constexpr int64_t kLeastWithYesterday = 720;
constexpr double kHeldBack = 0.3;
constexpr int64_t kBlock = 60;       ///< minutes of one weight
constexpr double kLeastMove = 0.02;  ///< of a standard deviation
constexpr std::array kPenalties = {1e-4, 1e-3, 1e-2, 1e-1, 1.0};
constexpr std::array kShares = {0.0, 0.25, 0.5, 0.75, 1.0};

double WeightOf(const RegressionRows& rows, int64_t first, int64_t end, const Horizons& horizons) {
  double moved = 0;
  double count = 0;
  for (int64_t minute = first; minute < end; ++minute) {
    if (!rows.IsRow(minute)) continue;
    const double* const x = rows.At(minute);
    for (size_t h = 0; h < horizons.size(); ++h) moved += std::abs(x[horizons[h]] - *x);
    count += static_cast<double>(horizons.size());
  }
  return 1 / ((count > 0 ? moved / count : 0) + kLeastMove);
}

/// One set of features while it is learnt.
class Candidate {
 public:
  Candidate(int32_t lags, const Horizons& horizons, const YesterdayShifts* yesterday)
      : lags_(lags),
        horizons_(horizons),
        yesterday_(yesterday),
        regression_(lags, horizons, yesterday),
        older_(regression_.MakeProducts()),
        newer_(older_) {}

  ShiftProducts& older() { return older_; }
  ShiftProducts& newer() { return newer_; }

  void SolveOlder() {
    regression_.SetProducts(older_);
    const size_t n = regression_.FeatureCount();
    tried_.assign(n, {});
    for (size_t p = 0; p < kPenalties.size(); ++p) {
      const LagWeights solved = regression_.Solve(kPenalties[p]);
      is_solved_[p] = !solved.empty();
      for (size_t h = 0; is_solved_[p] && h < horizons_.size(); ++h) {
        for (size_t i = 0; i < n; ++i) {
          tried_[i][p * kMaxForecastHorizons + h] = static_cast<float>(solved[h * n + i]);
        }
      }
    }
  }

  void Try(const double* x, int64_t minute_of_day) {
    WriteLagFeatures(
        lags_, yesterday_, [x](int64_t shift) { return x[-shift]; }, minute_of_day, features_);
    Side said{};
    for (size_t i = 0; i < tried_.size(); ++i) {
      const auto feature = static_cast<float>(features_.values[i]);
      for (size_t k = 0; k < said.size(); ++k) said[k] += feature * tried_[i][k];
    }
    for (size_t h = 0; h < horizons_.size(); ++h) {
      const double truth = x[horizons_[h]] - *x;
      for (size_t p = 0; p < kPenalties.size(); ++p) {
        const double change{said[p * kMaxForecastHorizons + h]};
        for (size_t s = 0; s < kShares.size(); ++s) {
          errors_[h][p][s] += std::abs(kShares[s] * change - truth);
        }
      }
    }
  }

  void Choose() {
    for (size_t h = 0; h < horizons_.size(); ++h) {
      for (size_t p = 0; p < kPenalties.size(); ++p) {
        if (!is_solved_[p]) continue;
        for (size_t s = 0; s < kShares.size(); ++s) {
          const double error = errors_[h][p][s];
          if (!(error < best_[h].error)) continue;
          best_[h] = {error, p, kShares[s]};
        }
      }
    }
  }
  double error(size_t horizon) const { return best_[horizon].error; }

  /// From older and newer; empty where there is no solution. `unit` of demand.
  LagWeights SolveAll(double unit) {
    newer_.Add(older_);
    regression_.SetProducts(newer_);
    const size_t n = regression_.FeatureCount();
    LagWeights weights(horizons_.size() * n, 0);
    for (size_t p = 0; p < kPenalties.size(); ++p) {
      LagWeights solved;
      for (size_t h = 0; h < horizons_.size(); ++h) {
        if (best_[h].penalty != p || best_[h].share == 0) continue;
        if (solved.empty()) solved = regression_.Solve(kPenalties[p]);
        if (solved.empty()) return {};
        for (size_t i = 0; i < n; ++i) {
          const bool has_unit = i + kClockFeatures >= n;
          weights[h * n + i] = best_[h].share * solved[h * n + i] * (has_unit ? unit : 1);
        }
      }
    }
    return weights;
  }

 private:
  using Side = std::array<float, kPenalties.size() * kMaxForecastHorizons>;
  struct Choice {
    double error = std::numeric_limits<double>::infinity();
    size_t penalty = 0;
    double share = 0;
  };

  int32_t lags_;
  Horizons horizons_;
  const YesterdayShifts* yesterday_;
  LagRegression regression_;
  ShiftProducts older_;
  ShiftProducts newer_;
  std::array<bool, kPenalties.size()> is_solved_{};
  /// For each feature the weights of all penalties and horizons beside each other, so that one
  /// pass over the features of a minute answers them all; digits of a float are enough to choose.
  std::vector<Side> tried_;
  std::array<std::array<std::array<double, kShares.size()>, kPenalties.size()>,
             kMaxForecastHorizons>
      errors_{};
  std::array<Choice, kMaxForecastHorizons> best_{};
  LagFeatures features_;
};

}  // namespace

Result<RidgeFit> FitRidge(const RegressionRows& rows, int32_t lags, const Horizons& horizons,
                          const YesterdayShifts& yesterday, const std::stop_token& stop) {
  const auto stopped = [] { return Fail(ErrorCode::kUnavailable, "the fit was stopped"); };
  const bool two = rows.count_with_yesterday() >= kLeastWithYesterday;
  Candidate plain(lags, horizons, nullptr);
  Candidate daily(lags, horizons, two ? &yesterday : nullptr);
  const int64_t split = rows.MinuteWith(1 - kHeldBack, two);
  for (int64_t first = 0; first < rows.size();) {
    const int64_t end = std::min({first < split ? split : rows.size(), first + kBlock});
    const double weight = WeightOf(rows, first, end, horizons);
    const auto products = [&](Candidate& of) -> ShiftProducts& {
      return first < split ? of.older() : of.newer();
    };
    rows.Sum(first, end, false, weight, products(plain));
    rows.Sum(first, end, true, weight, products(two ? daily : plain));
    first = end;
    if (stop.stop_requested()) return stopped();
  }
  if (two) {  // these rows have been summed once, with more columns
    plain.older().Add(daily.older());
    plain.newer().Add(daily.newer());
    daily.SolveOlder();
  }
  plain.SolveOlder();
  std::array<double, kMaxForecastHorizons> unchanged{};
  for (int64_t minute = split; minute < rows.size(); ++minute) {
    if (!rows.IsRow(minute) || (two && !rows.HasYesterday(minute))) continue;
    const double* const x = rows.At(minute);
    plain.Try(x, rows.MinuteOfDay(minute));
    if (two) daily.Try(x, rows.MinuteOfDay(minute));
    for (size_t h = 0; h < horizons.size(); ++h) unchanged[h] += std::abs(x[horizons[h]] - *x);
  }
  if (stop.stop_requested()) return stopped();
  plain.Choose();
  if (two) daily.Choose();
  RidgeFit fit;
  bool any = false;
  double ratio = 0;
  for (size_t h = 0; h < horizons.size(); ++h) {
    fit.uses_yesterday[h] = two && daily.error(h) < plain.error(h);
    any = any || fit.uses_yesterday[h];
    const double error = std::min(plain.error(h), two ? daily.error(h) : plain.error(h));
    ratio += unchanged[h] > 0 ? error / unchanged[h] : 1;
  }
  fit.error_ratio = ratio / static_cast<double>(horizons.size());
  fit.plain = plain.SolveAll(rows.scale());
  if (any) fit.with_yesterday = daily.SolveAll(rows.scale());
  if (fit.plain.empty() || (any && fit.with_yesterday.empty())) {
    return Fail(ErrorCode::kInvalidArgument, "history: the regression has no solution");
  }
  return fit;
}

}  // namespace tidemark::forecast
