#include "forecast/lag_regression.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "forecast/cholesky.h"

namespace tidemark::forecast {
namespace {

/// Of the rows; on the diagonal it keeps a matrix of features that never moved solvable.
constexpr double kLeast = 1e-9;

}  // namespace

YesterdayShifts::YesterdayShifts(const Horizons& horizons) {
  for (size_t h = 0; h <= horizons.size(); ++h) {
    const int64_t middle = kMinutesADay - (h == 0 ? 0 : horizons[h - 1]);
    for (int64_t shift = middle - kAroundYesterday; shift <= middle + kAroundYesterday; ++shift) {
      const auto known = shifts();
      if (shift == kMinutesADay || std::find(known.begin(), known.end(), shift) != known.end()) {
        continue;
      }
      shifts_[count_++] = static_cast<int16_t>(shift);
    }
  }
}

LagRegression::LagRegression(int32_t lags, const Horizons& horizons,
                             const YesterdayShifts* yesterday) {
  for (int64_t lag = 0; lag < lags; ++lag) {
    if (lag > 0) changes_.push_back({shifts_.size(), 0});
    shifts_.push_back(lag);
  }
  for (size_t h = 0; h < horizons.size(); ++h) {
    aims_.push_back({shifts_.size(), 0});
    shifts_.push_back(-horizons[h]);
  }
  if (yesterday == nullptr) return;
  const size_t then = shifts_.size();
  shifts_.push_back(kMinutesADay);
  for (const int16_t shift : yesterday->shifts()) {
    changes_.push_back({shifts_.size(), then});
    shifts_.push_back(shift);
  }
}

void LagRegression::SetProducts(const ShiftProducts& products) {
  // A feature is the difference of two columns of the sums, or one of them.
  struct Column {
    size_t of = 0;
    std::optional<size_t> against;
  };
  const auto product = [&](const Column& a, const Column& b) {
    double sum = products(a.of, b.of);
    if (a.against) sum -= products(*a.against, b.of);
    if (b.against) sum -= products(a.of, *b.against);
    if (a.against && b.against) sum += products(*a.against, *b.against);
    return sum;
  };
  std::vector<Column> columns;
  columns.reserve(FeatureCount());
  for (const Change& change : changes_) columns.push_back({change.of, change.against});
  for (size_t i = 0; i < kClockFeatures; ++i) columns.push_back({products.OneAt() + i, {}});
  const size_t n = columns.size();
  matrix_.assign(n * n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) matrix_[i * n + j] = product(columns[i], columns[j]);
  }
  right_.clear();
  for (const Change& aim : aims_) {
    for (const Column& column : columns) right_.push_back(product(column, {aim.of, aim.against}));
  }
  least_ = kLeast * products.rows();
}

LagWeights LagRegression::Solve(double penalty) const {
  const size_t n = FeatureCount();
  std::vector<double> matrix = matrix_;
  for (size_t i = 0; i < n; ++i) {
    const bool is_one = i == changes_.size();
    matrix[i * n + i] = matrix[i * n + i] * (is_one ? 1 : 1 + penalty) + least_;
  }
  if (!Factorise(matrix, n)) return {};
  LagWeights weights = right_;
  for (size_t h = 0; h < aims_.size(); ++h) {
    SolveFactorised(matrix, n, std::span(weights).subspan(h * n, n));
  }
  const bool good = std::all_of(weights.begin(), weights.end(),
                                [](double value) { return std::isfinite(value); });
  return good ? weights : LagWeights();
}

}  // namespace tidemark::forecast
