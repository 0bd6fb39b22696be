#pragma once
// The training of one network: batches in a shuffled order, Adam, and an early end by the part that
// is held back.
//
// The same data, options, seed and starting weights give the same weights. For
// forecast/network*.cpp only. Not thread-safe.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>
#include <xtensor/xtensor.hpp>

#include "forecast/forecaster.h"
#include "forecast/lstm.h"
#include "forecast/network_adam.h"
#include "forecast/network_data.h"
#include "forecast/network_options.h"
#include "forecast/network_random.h"

namespace tidemark::forecast {

class NetworkFit {
 public:
  /// `data` must outlive it. `start`: weights to begin from; empty: drawn from the seed.
  NetworkFit(const NetworkOptions& options, const NetworkShape& shape, const NetworkData& data,
             std::span<const float> start, uint64_t seed);

  /// To its end; false when it was stopped. `pass` is of the same shape and window, of the options'
  /// batch at least; its buffers may have served others before. Of `how` it minds stop and pause.
  bool Run(LstmPass<float>& pass, const FitOptions& how);

  /// The best by the part that was held back.
  const xt::xtensor<float, 1>& weights() const { return best_; }
  /// Of them, in units of the changes scaled to [0, 1].
  double loss() const { return best_loss_ / kSquaresOfUnit; }
  int32_t iterations() const { return iterations_; }

 private:
  // Changes are scaled to [-1, 1]: twice as wide, so squares are four times as large.
  static constexpr double kSquaresOfUnit = 4;

  /// At most so many batches of windows judge.
  static constexpr size_t kJudgedBatches = 4;

  /// Between two batches, some milliseconds each. False when stopped.
  static bool GoOn(const FitOptions& how);
  void Iterate(LstmPass<float>& pass);
  /// Nothing when stopped.
  std::optional<double> JudgedLoss(LstmPass<float>& pass, const FitOptions& how);
  void FillBatch(std::span<const int32_t> minutes);
  void Shuffle();
  std::span<const float> Windows(size_t rows) const;
  std::span<const float> Targets(size_t rows) const;

  const NetworkOptions options_;
  const NetworkData& data_;
  SplitMix random_;
  Adam<float> adam_;
  bool warm_;
  int32_t most_iterations_;
  xt::xtensor<float, 1> weights_;
  xt::xtensor<float, 1> gradient_;
  xt::xtensor<float, 1> best_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::vector<int32_t> judged_;
  std::vector<int32_t> order_;
  size_t next_ = 0;
  xt::xtensor<float, 2> windows_;
  xt::xtensor<float, 2> targets_;
  int32_t iterations_ = 0;
  double loss_sum_ = 0;  // of the iterations since the last judgement
  bool broken_ = false;  // the gradient is no number any more
};

}  // namespace tidemark::forecast
