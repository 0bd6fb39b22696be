// A BiLSTM of 100 units, 32 windows of 60 minutes an iteration: the floor that the products of
// matrices of an iteration set, an iteration, many workloads together, and one forecast.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "bench/forecast/part.h"
#include "forecast/lstm.h"
#include "forecast/lstm_single.h"
#include "forecast/network_adam.h"
#include "forecast/network_forecaster.h"
#include "forecast/network_random.h"
#include "forecast/network_together.h"
#include "forecast/products.h"

namespace tidemark::bench {
namespace {

using forecast::NetworkShape;

constexpr NetworkShape kShape{.hidden = 100, .outputs = 1, .both_directions = true};
constexpr size_t kLength = 60;
constexpr size_t kRows = 32;

std::vector<float> Draw(size_t count, uint64_t seed) {
  forecast::SplitMix random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  return values;
}

/// Every product of one iteration, on memory of the same size and order, and nothing else.
class Floor {
 public:
  explicit Floor(const forecast::Products& products) : products_(products) {}

  const char* name() const { return products_.name; }
  void Iterate() {
    for (size_t d = 0; d < 2; ++d) {
      const float* const w = weights_.data() + d * kInputs * kGates;
      for (size_t t = 0; t < kLength; ++t) {
        products_.times(kRows, kGates, kInputs, In(d, t), kInputs, w, kGates, Gates(d, t), kGates);
      }
    }
    for (size_t d = 0; d < 2; ++d) {
      const float* const w = weights_.data() + d * kInputs * kGates;
      for (size_t t = kLength; t-- > 1;) {
        products_.times_transposed(kRows, kHidden, kGates, Gates(d, t), kGates, w, kGates,
                                   back_.data(), kHidden);
      }
      products_.transposed_times(kInputs, kGates, kRows * kLength, In(d, 0), kInputs, Gates(d, 0),
                                 kGates, gradient_.data() + d * kInputs * kGates, kGates);
    }
  }

 private:
  static constexpr size_t kHidden = 100;
  static constexpr size_t kGates = 4 * kHidden;
  static constexpr size_t kInputs = kHidden + 3;

  const float* In(size_t d, size_t t) const {
    return in_.data() + (d * kLength + t) * kRows * kInputs;
  }
  float* Gates(size_t d, size_t t) { return gates_.data() + (d * kLength + t) * kRows * kGates; }

  const forecast::Products& products_;
  std::vector<float> weights_ = Draw(2 * kInputs * kGates, 1);
  std::vector<float> in_ = Draw(2 * kLength * kRows * kInputs, 2);
  std::vector<float> gates_ = std::vector<float>(2 * kLength * kRows * kGates);
  std::vector<float> back_ = std::vector<float>(kRows * kHidden);
  std::vector<float> gradient_ = std::vector<float>(2 * kInputs * kGates);
};

class Training {
 public:
  Training() { forecast::DrawWeights<float>(kShape, 1, weights_); }
  void Iterate() {
    pass_.Forward(weights_, windows_);
    loss_ = pass_.Loss(targets_);
    pass_.Backward(weights_, targets_, gradient_);
    adam_.Step(weights_, gradient_);
  }
  double loss() const { return loss_; }

 private:
  std::vector<float> weights_ = std::vector<float>(kShape.WeightCount());
  std::vector<float> gradient_ = std::vector<float>(kShape.WeightCount());
  std::vector<float> windows_ = Draw(kRows * kLength, 4);
  std::vector<float> targets_ = Draw(kRows, 5);
  forecast::LstmPass<float> pass_{kShape, kLength, kRows};
  forecast::Adam<float> adam_{kShape.WeightCount(), {.clip_norm = 1}};
  double loss_ = 0;
};

/// The best of some turns, in seconds a call.
template <class Call>
double Best(int turns, int calls, Call&& call) {
  double best = 1e9;
  for (int turn = 0; turn < turns; ++turn) {
    const double begin = CpuSeconds();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, (CpuSeconds() - begin) / calls);
  }
  return best;
}

forecast::DemandSeries NoisyDays(uint64_t seed) {
  forecast::SplitMix random(seed);
  forecast::DemandSeries series;
  for (int t = 0; t < 2880; ++t) {
    const double angle = t * 2 * std::numbers::pi / 1440;
    series.values.push_back(static_cast<float>(10 + 4 * std::sin(angle) + random.Unit()));
  }
  return series;
}

/// Several workloads with the usual settings, and with all that belongs to a fit: preparing,
/// judging, keeping the best. Iterations a second.
double TrainSeveral(int workloads, int iterations) {
  forecast::NetworkOptions options;
  options.max_iterations = iterations;
  options.stop_loss = 0;
  std::vector<std::unique_ptr<forecast::NetworkForecaster>> networks;
  std::vector<forecast::DemandSeries> histories;
  for (int i = 0; i < workloads; ++i) {
    networks.push_back(std::make_unique<forecast::NetworkForecaster>(
        ForecastModel::kBiLstm, forecast::Horizons(), options));
    histories.push_back(NoisyDays(static_cast<uint64_t>(i)));
  }
  std::vector<forecast::TogetherFit> fits;
  for (size_t i = 0; i < networks.size(); ++i) {
    fits.push_back({networks[i].get(), &histories[i], {.seed = i}});
  }
  const double begin = CpuSeconds();
  double done = 0;
  for (const auto& report : forecast::TrainTogether(fits)) {
    if (report) done += report->iterations;
  }
  return done / (CpuSeconds() - begin);
}

}  // namespace

int RunNetworks(const PartOptions& options) {
  const int turns = options.quick ? 1 : 12;
  const int calls = options.quick ? 1 : 4;
  std::vector<Floor> floors;
  for (const forecast::Products* const products : forecast::ProductsThatRun()) {
    floors.emplace_back(*products);
  }
  Training training;
  std::vector<double> floor_seconds(floors.size(), 1e9);
  double training_seconds = 1e9;
  std::vector<std::pair<double, double>> together;  // share of the floor, iterations a second
  // In turns, so that whatever else the machine does meets all of them.
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < floors.size(); ++i) {
      floor_seconds[i] = std::min(floor_seconds[i], Best(1, calls, [&] { floors[i].Iterate(); }));
    }
    training_seconds = std::min(training_seconds, Best(1, calls, [&] { training.Iterate(); }));
    if (turn % 4 == 0) {
      // A fit takes seconds, in which no quiet moment can be picked: so does its own floor, of as
      // many iterations, half of them before and half after it.
      const int iterations = options.quick ? 1 : 150;
      const auto floor = [&] { return Best(1, iterations, [&] { floors[0].Iterate(); }); };
      const double before = floor();
      const double rate = TrainSeveral(2, iterations);
      together.emplace_back(rate * (before + floor()) / 2, rate);
    }
  }
  if (!std::isfinite(training.loss())) {
    std::fputs("training came to no finite loss\n", stderr);
    return 1;
  }
  for (size_t i = 0; i < floors.size(); ++i) {
    std::string metric = floors[i].name();
    std::ranges::replace(metric, ' ', '_');
    Say("floor", (metric + "_iterations_per_second").c_str(), 1 / floor_seconds[i]);
  }
  Say("tidemark", "iterations_per_second", 1 / training_seconds);
  std::ranges::sort(together);
  const auto [share, rate] = together[together.size() / 2];
  Say("tidemark", "together_iterations_per_second", rate);
  Say("tidemark", "together_floor_share_ratio", share);

  std::vector<float> weights(kShape.WeightCount());
  forecast::DrawWeights<float>(kShape, 1, weights);
  const std::vector<float> window = Draw(kLength, 6);
  float said = 0;
  const double single = Best(turns, options.quick ? 1 : 20, [&] {
    forecast::ForwardSingle(kShape, weights, window, std::span(&said, 1));
  });
  Say("tidemark", "forecast_seconds", single);
  return std::isfinite(said) ? 0 : 1;
}

}  // namespace tidemark::bench
