// The trainer with the models that it is for.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "forecast/trainer.h"
#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

/// Two days with a wave and noise.
DemandSeries Wave() {
  DemandSeries series{.first = 29'000'000, .values = {}};
  std::mt19937_64 random(1);
  double level = 10;
  for (int i = 0; i < 2880; ++i) {
    level += std::normal_distribution<>(0, 0.2)(random);
    series.values.push_back(
        static_cast<float>(std::max(0.1, level + 5 * std::sin(i * 2 * M_PI / 1440))));
  }
  return series;
}

TrainingWish Wish(ForecastModel model) {
  return {.owner = 0, .workload = "web", .model = model, .staleness = 1, .cost_seconds = 0.1};
}

struct Trained {
  explicit Trained(double budget_ratio = 1)
      : trainer(
            {.budget_ratio = budget_ratio}, counters,
            [this](const TrainingWish& wish) {
              return TrainingTask{
                  .wish = wish, .horizons = {}, .history = history, .weights = weights, .seed = 0};
            },
            [this](TrainingResult result) {
              const std::lock_guard lock(mutex);
              results.push_back(std::move(result));
              changed.notify_all();
            }) {}

  const TrainingResult& Wait(size_t count = 1) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return results.size() >= count; });
    return results.back();
  }

  DemandSeries history = Wave();
  std::string weights;
  TrainingCounters counters;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<TrainingResult> results;
  Trainer trainer;  // last: it uses what is above
};

}  // namespace

TEST_CASE("what is trained is what the same model learns anywhere, each time the same") {
  const ForecastModel model =
      GENERATE(ForecastModel::kRidge30, ForecastModel::kHoltWinters, ForecastModel::kArima);
  CAPTURE(ToString(model));
  Trained first;
  first.trainer.SetWishes({Wish(model)});
  const TrainingResult result = first.Wait();
  Trained second;
  second.trainer.SetWishes({Wish(model)});
  CHECK(second.Wait().weights == result.weights);
  CHECK(result.seconds > 0);

  const auto direct = MakeForecaster(model, Horizons());
  FitOptions how;
  how.seed = TrainingSeed(Wish(model), Wave().end());
  REQUIRE(direct->Fit(Wave(), how));
  std::string bytes;
  ByteWriter out(bytes);
  direct->Save(out);
  CHECK(result.weights == bytes);

  const auto taken = MakeForecaster(model, Horizons());
  ByteReader in(result.weights);
  REQUIRE(taken->Restore(in));
  CHECK(taken->IsFitted());
}

TEST_CASE("weights that cannot be read are begun without") {
  Trained with;
  with.weights = "no weights";
  with.trainer.SetWishes({Wish(ForecastModel::kRidge30)});
  Trained without;
  without.trainer.SetWishes({Wish(ForecastModel::kRidge30)});
  CHECK(with.Wait().weights == without.Wait().weights);
}

TEST_CASE("a history that does not move is refused") {
  Trained trained;
  std::ranges::fill(trained.history.values, 3.0F);
  trained.trainer.SetWishes({Wish(ForecastModel::kRidge30)});
  while (trained.counters.fits_refused + trained.counters.fits == 0) std::this_thread::yield();
  CHECK(trained.counters.fits_refused == 1);
}

TEST_CASE("a network keeps to the budget while it is trained, and stops when told to") {
  constexpr double kBudget = 0.2;
  const auto begun = std::chrono::steady_clock::now();
  Trained trained(kBudget);
  trained.trainer.SetWishes({Wish(ForecastModel::kBiLstm)});
  uint64_t spent = 0;
  uint64_t slice = 0;  // the longest that was spent without a look at the budget
  while (spent < 200) {
    const uint64_t now = trained.counters.spent_milliseconds;
    slice = std::max(slice, now - std::exchange(spent, now));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // However long that took, and however slow the machine: it was not faster than allowed. What is
  // not kept to is one slice, a batch of some ten milliseconds (under sanitizers of half a second),
  // and what is let be of a debt. A whole network takes much longer than a slice may.
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun;
  CHECK(slice < 2000);
  CHECK(static_cast<double>(spent) / 1000 <=
        kBudget * (elapsed.count() + 0.05) + 0.1 + static_cast<double>(slice) / 1000);
  trained.trainer.Stop();
  CHECK(trained.results.empty());
  CHECK(trained.counters.fits_stopped == 1);
}

}  // namespace tidemark::forecast
