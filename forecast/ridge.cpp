#include "forecast/ridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "forecast/cholesky.h"
#include "forecast/look_back.h"
#include "forecast/regression_rows.h"
#include "forecast/shift_products.h"

namespace tidemark::forecast {
namespace {

constexpr size_t kHarmonics = 3;
constexpr double kLeastRows = 300;
constexpr double kHeldBack = 0.2;
/// Of a feature's own sum of squares.
constexpr std::array kPenalties = {1e-4, 1e-3, 1e-2, 1e-1};
/// How much of what the regression says counts; 0 is the last value.
constexpr std::array kShares = {0.0, 0.25, 0.5, 0.75, 1.0};
constexpr double kAnything = 1e-9;  ///< so that the matrix can be factorised
constexpr uint8_t kFormat = 1;

/// For one horizon: of the changes x[t-1] - x[t], …, then of 1 and the harmonics.
using Weights = std::vector<double>;

class Ridge final : public Forecaster {
 public:
  Ridge(ForecastModel model, const Horizons& horizons)
      : model_(model), lags_(model == ForecastModel::kRidge30 ? 30 : 60), horizons_(horizons) {}

  ForecastModel model() const override { return model_; }
  int32_t look_back() const override { return lags_; }
  bool NeedsFit() const override { return true; }
  bool IsFitted() const override { return !weights_.empty(); }
  Result<FitReport> Fit(const DemandSeries& history, const FitOptions& options) override;
  double FitSeconds(int64_t minutes) const override {
    return 4e-7 * static_cast<double>(std::max<int64_t>(minutes, 0)) + 1e-3;
  }
  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override;
  void Save(ByteWriter& out) const override;
  Result<void> Restore(ByteReader& in) override;
  size_t MemoryBytes() const override {
    return sizeof(*this) + weights_.capacity() * sizeof(float);
  }

 private:
  size_t ChangeCount() const { return static_cast<size_t>(lags_ - 1); }
  size_t FeatureCount() const { return ChangeCount() + 1 + 2 * kHarmonics; }
  ShiftProducts Sum(const RegressionRows& rows, int64_t first, int64_t end) const;
  /// Empty where it cannot be solved.
  std::vector<Weights> Solve(const ShiftProducts& products, double penalty) const;
  double Predict(const Weights& weights, const double* newest, const double* harmonics) const;

  ForecastModel model_;
  int32_t lags_;
  Horizons horizons_;
  std::vector<float> weights_;  // of one horizon after the other; harmonics in units of demand
};

ShiftProducts Ridge::Sum(const RegressionRows& rows, int64_t first, int64_t end) const {
  std::vector<int64_t> shifts;
  for (int64_t lag = 0; lag < lags_; ++lag) shifts.push_back(lag);
  for (size_t h = 0; h < horizons_.size(); ++h) shifts.push_back(-horizons_[h]);
  ShiftProducts products(std::move(shifts), kHarmonics);
  rows.Sum(first, end, products);
  return products;
}

std::vector<Weights> Ridge::Solve(const ShiftProducts& products, double penalty) const {
  const size_t n = FeatureCount();
  const auto lags = static_cast<size_t>(lags_);
  // A feature, or an aim, is one of the sums' columns less another (the newest value), or itself.
  const auto column = [&](size_t feature) {
    return feature < ChangeCount() ? feature + 1 : products.OneAt() + (feature - ChangeCount());
  };
  const auto product = [&](size_t i, bool i_is_change, size_t j, bool j_is_change) {
    double sum = products(i, j);
    if (i_is_change) sum -= products(0, j);
    if (j_is_change) sum -= products(i, 0);
    if (i_is_change && j_is_change) sum += products(0, 0);
    return sum;
  };
  std::vector<double> matrix(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      matrix[i * n + j] = product(column(i), i < ChangeCount(), column(j), j < ChangeCount());
    }
    double& own = matrix[i * n + i];
    own = own * (1 + (i == ChangeCount() ? 0 : penalty)) + kAnything * products.rows();
  }
  if (!Factorise(matrix, n)) return {};
  std::vector<Weights> solved(horizons_.size(), Weights(n));
  for (size_t h = 0; h < horizons_.size(); ++h) {
    for (size_t i = 0; i < n; ++i) {
      solved[h][i] = product(column(i), i < ChangeCount(), lags + h, true);
    }
    forecast::Solve(matrix, n, solved[h]);
    for (const double weight : solved[h]) {
      if (!std::isfinite(weight)) return {};
    }
  }
  return solved;
}

double Ridge::Predict(const Weights& weights, const double* newest, const double* harmonics) const {
  double change = 0;
  for (size_t i = 0; i < ChangeCount(); ++i) {
    change += weights[i] * (newest[-static_cast<int64_t>(i) - 1] - newest[0]);
  }
  for (size_t i = 0; i < 1 + 2 * kHarmonics; ++i) {
    change += weights[ChangeCount() + i] * harmonics[i];
  }
  return change;
}

Result<FitReport> Ridge::Fit(const DemandSeries& history, const FitOptions& options) {
  const RegressionRows rows(history, lags_, horizons_);
  if (auto good = rows.Check(kLeastRows); !good) return tl::unexpected(good.error());
  const int64_t split = rows.RowWith(1 - kHeldBack);
  const ShiftProducts first = Sum(rows, 0, split);
  ShiftProducts all = Sum(rows, split, rows.size());
  all.Add(first);
  if (options.stop.stop_requested()) return Fail(ErrorCode::kUnavailable, "the fit was stopped");

  struct Choice {
    double error = std::numeric_limits<double>::infinity();
    size_t penalty = 0;
    double share = 0;
  };
  std::array<Choice, kMaxForecastHorizons> best{};
  std::array<double, 1 + 2 * kHarmonics> harmonics{};
  for (size_t p = 0; p < kPenalties.size(); ++p) {
    const auto solved = Solve(first, kPenalties[p]);
    if (solved.empty()) continue;
    std::array<std::array<double, kShares.size()>, kMaxForecastHorizons> errors{};
    rows.ForEach(split, rows.size(), [&](int64_t row, const double* newest) {
      WriteHarmonics(rows.MinuteOfDay(row), kHarmonics, harmonics.data());
      for (size_t h = 0; h < horizons_.size(); ++h) {
        const double change = Predict(solved[h], newest, harmonics.data());
        const double truth = newest[horizons_[h]] - newest[0];
        for (size_t s = 0; s < kShares.size(); ++s) {
          errors[h][s] += std::abs(kShares[s] * change - truth);
        }
      }
    });
    for (size_t h = 0; h < horizons_.size(); ++h) {
      for (size_t s = 0; s < kShares.size(); ++s) {
        if (errors[h][s] < best[h].error) best[h] = {errors[h][s], p, kShares[s]};
      }
    }
  }
  std::vector<float> weights(horizons_.size() * FeatureCount());
  for (size_t p = 0; p < kPenalties.size(); ++p) {
    const auto solved = Solve(all, kPenalties[p]);
    for (size_t h = 0; h < horizons_.size(); ++h) {
      if (best[h].penalty != p || best[h].share == 0) continue;
      if (solved.empty()) continue;
      for (size_t i = 0; i < FeatureCount(); ++i) {
        const double unit = i < ChangeCount() ? 1 : rows.scale();
        weights[h * FeatureCount() + i] = static_cast<float>(best[h].share * solved[h][i] * unit);
      }
    }
  }
  for (const float weight : weights) {
    if (!std::isfinite(weight)) {
      return Fail(ErrorCode::kInvalidArgument, "history: its values are too large to learn from");
    }
  }
  weights_ = std::move(weights);
  return FitReport{};
}

bool Ridge::Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const {
  if (!IsFitted()) return false;
  std::array<float, 60> past{};
  const std::span<float> window(past.data(), static_cast<size_t>(lags_));
  if (!ReadLookBack(history, now, window)) return false;
  std::array<double, 1 + 2 * kHarmonics> harmonics{};
  WriteHarmonics(now % kMinutesADay, kHarmonics, harmonics.data());
  const float newest = window.back();
  for (size_t h = 0; h < horizons_.size(); ++h) {
    const float* weights = &weights_[h * FeatureCount()];
    double change = 0;
    for (size_t i = 0; i < ChangeCount(); ++i) {
      change += double{weights[i]} * (double{window[window.size() - 2 - i]} - double{newest});
    }
    for (size_t i = 0; i < harmonics.size(); ++i) {
      change += double{weights[ChangeCount() + i]} * harmonics[i];
    }
    out[h] = std::max(0.0, double{newest} + change);
  }
  return true;
}

void Ridge::Save(ByteWriter& out) const {
  out.Byte(kFormat);
  out.Byte(static_cast<uint8_t>(model_));
  out.Byte(static_cast<uint8_t>(horizons_.size()));
  for (size_t h = 0; h < horizons_.size(); ++h) out.Varint(static_cast<uint64_t>(horizons_[h]));
  out.Varint(weights_.size());
  for (const float weight : weights_) out.Fixed32(std::bit_cast<uint32_t>(weight));
}

Result<void> Ridge::Restore(ByteReader& in) {
  const auto wrong = [](const char* what) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("saved ridge regression: {}", what));
  };
  if (in.Byte() != kFormat) return wrong("it is of another format");
  if (in.Byte() != static_cast<uint8_t>(model_)) return wrong("it is of another model");
  bool same = in.Byte() == horizons_.size();
  for (size_t h = 0; same && h < horizons_.size(); ++h) {
    same = in.Varint() == static_cast<uint64_t>(horizons_[h]);
  }
  if (!same) return wrong("it is of other horizons");
  const uint64_t count = in.Count(sizeof(float));
  if (count != 0 && count != horizons_.size() * FeatureCount()) {
    return wrong("it has another number of weights");
  }
  std::vector<float> weights(count);
  for (float& weight : weights) {
    weight = std::bit_cast<float>(in.Fixed32());
    if (!std::isfinite(weight)) return wrong("a weight is not finite");
  }
  if (in.failed()) return wrong("it is cut short");
  weights_ = std::move(weights);
  return {};
}

}  // namespace

std::unique_ptr<Forecaster> MakeRidge(ForecastModel model, const Horizons& horizons) {
  return std::make_unique<Ridge>(model, horizons);
}

}  // namespace tidemark::forecast
