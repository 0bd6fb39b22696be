#include "forecast/trainer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

/// Stands, but for what is worked and idled.
class FakeTime final : public TrainingTime {
 public:
  double Now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  double Spent() const override {
    const std::lock_guard lock(mutex_);
    return spent_;
  }
  void Idle(double seconds, const std::stop_token& /*stop*/) override { Pass(seconds, 0); }

  void Work(double seconds) { Pass(seconds, seconds); }
  void Pass(double seconds, double spent) {
    const std::lock_guard lock(mutex_);
    now_ += seconds;
    spent_ += spent;
    if (spent > 0) work_.emplace_back(now_, spent);
  }
  /// The most that was spent in any ten seconds.
  double MostInTenSeconds() const {
    const std::lock_guard lock(mutex_);
    double most = 0;
    for (size_t i = 0; i < work_.size(); ++i) {
      double sum = 0;
      for (size_t j = i; j < work_.size() && work_[j].first < work_[i].first + 10; ++j) {
        sum += work_[j].second;
      }
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  mutable std::mutex mutex_;
  double now_ = 1000;
  double spent_ = 0;
  std::vector<std::pair<double, double>> work_;
};

/// What fakes do when they are fitted.
using FitFunction =
    std::function<Result<FitReport>(const DemandSeries&, const FitOptions&, std::string& weights)>;

class FakeForecaster final : public Forecaster {
 public:
  FakeForecaster(ForecastModel model, FitFunction fit) : model_(model), fit_(std::move(fit)) {}

  ForecastModel model() const override { return model_; }
  int32_t look_back() const override { return 1; }
  bool NeedsFit() const override { return true; }
  bool IsFitted() const override { return !weights_.empty(); }
  Result<FitReport> Fit(const DemandSeries& history, const FitOptions& options) override {
    return fit_(history, options, weights_);
  }
  double FitSeconds(int64_t /*minutes*/) const override { return 1; }
  bool Forecast(const DemandHistory& /*history*/, int64_t /*now*/,
                std::span<double> /*out*/) const override {
    return false;
  }
  void Save(ByteWriter& out) const override { out.Text(weights_); }
  Result<void> Restore(ByteReader& in) override {
    weights_ = in.Text();
    return {};
  }
  size_t MemoryBytes() const override { return sizeof *this; }

 private:
  ForecastModel model_;
  FitFunction fit_;
  std::string weights_;
};

std::string Saved(std::string_view weights) {
  std::string bytes;
  ByteWriter(bytes).Text(weights);
  return bytes;
}

TrainingWish Wish(std::string workload, double cost = 0.01,
                  ForecastModel model = ForecastModel::kRidge30) {
  return {.owner = 3,
          .workload = std::move(workload),
          .model = model,
          .staleness = 1,
          .cost_seconds = cost};
}

DemandSeries Minutes(int64_t first, size_t count) {
  return {.first = first, .values = std::vector<float>(count, 1.0F)};
}

/// A trainer of fakes.
class World {
 public:
  explicit World(FitFunction fit, double budget_ratio = 1) : fit_(std::move(fit)) {
    Trainer::Options options{.budget_ratio = budget_ratio,
                             .time = time,
                             .make = [this](ForecastModel model, const Horizons&) {
                               return std::make_unique<FakeForecaster>(model, fit_);
                             }};
    trainer = std::make_unique<Trainer>(
        options, counters,
        [this](const TrainingWish& wish) -> std::optional<TrainingTask> {
          const std::lock_guard lock(mutex_);
          loaded.push_back(wish.workload);
          changed_.notify_all();
          if (absent.contains(wish.workload)) return std::nullopt;
          return TrainingTask{
              .wish = wish, .horizons = {}, .history = history, .weights = weights, .seed = 0};
        },
        [this](TrainingResult result) {
          const std::lock_guard lock(mutex_);
          results.push_back(std::move(result));
          changed_.notify_all();
        });
  }

  void WaitForResults(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return results.size() >= count; });
  }
  void WaitForLoads(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return loaded.size() >= count; });
  }
  std::vector<std::string> Trained() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const TrainingResult& result : results) names.push_back(result.wish.workload);
    return names;
  }

  std::shared_ptr<FakeTime> time = std::make_shared<FakeTime>();
  TrainingCounters counters;
  DemandSeries history = Minutes(29'000'000, 500);
  std::string weights;
  std::set<std::string> absent;
  std::vector<std::string> loaded;
  std::vector<TrainingResult> results;
  std::unique_ptr<Trainer> trainer;

 private:
  FitFunction fit_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

TEST_CASE("a wish is loaded, fitted and handed over with what it cost") {
  FakeTime* time = nullptr;
  std::string began_from;
  World world([&](const DemandSeries& history, const FitOptions&, std::string& weights) {
    time->Work(0.75);
    began_from = weights;
    weights = "of " + std::to_string(history.values.size());
    return FitReport{.iterations = 7, .loss = 0.5, .what = "fake"};
  });
  time = world.time.get();
  world.weights = Saved("before");
  world.trainer->SetWishes({Wish("web")});
  world.WaitForResults(1);
  world.trainer->Stop();
  const TrainingResult& result = world.results.front();
  CHECK(result.wish.owner == 3);
  CHECK(result.wish.workload == "web");
  CHECK(result.wish.model == ForecastModel::kRidge30);
  CHECK(began_from == "before");
  CHECK(result.weights == Saved("of 500"));
  CHECK(result.report.iterations == 7);
  CHECK(result.report.what == "fake");
  CHECK(result.seconds == Approx(0.75));
  CHECK(result.trained_minute == 29'000'499);
  CHECK(world.counters.fits == 1);
  CHECK(world.counters.spent_milliseconds == 750);
  CHECK(world.counters.fits_refused == 0);
  CHECK(world.counters.queued_now == 0);
  CHECK(world.counters.overdue_ms_now == 0);
}

TEST_CASE("cheap fits come before costly ones, and those that are gone are passed over") {
  World world([](const DemandSeries&, const FitOptions&, std::string&) { return FitReport{}; });
  world.absent = {"b"};
  world.trainer->SetWishes(
      {Wish("d", 30, ForecastModel::kBiLstm), Wish("c", 0.03), Wish("b", 0.02), Wish("a", 0.01)});
  world.WaitForResults(3);
  world.trainer->Stop();
  CHECK(world.Trained() == std::vector<std::string>{"a", "c", "d"});
  CHECK(world.loaded == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(world.counters.fits == 3);
}

TEST_CASE("the budget holds over ten seconds, with short fits and with those that pause") {
  const double ratio = GENERATE(0.1, 0.25);
  FakeTime* time = nullptr;
  World world(
      [&](const DemandSeries&, const FitOptions& how, std::string&) {
        for (int i = 0; i < 1000; ++i) {
          time->Work(0.02);
          how.pause();
        }
        return FitReport{};
      },
      ratio);
  time = world.time.get();
  std::vector<TrainingWish> wishes = {Wish("long", 20, ForecastModel::kBiLstm), Wish("arima", 20)};
  const double begun = world.time->Now();
  world.trainer->SetWishes(wishes);
  world.WaitForResults(2);
  world.trainer->Stop();
  CHECK(world.time->MostInTenSeconds() <= ratio * 10.05 + 0.02 + 1e-6);
  CHECK(world.time->Now() - begun <= 40 / ratio * 1.05);  // what it may take is taken
  CHECK(world.results[0].seconds == Approx(20));
}

TEST_CASE("a fit that does not pause is paid for by idling after it") {
  FakeTime* time = nullptr;
  World world(
      [&](const DemandSeries&, const FitOptions&, std::string&) {
        time->Work(3);
        return FitReport{};
      },
      0.1);
  time = world.time.get();
  world.trainer->SetWishes({Wish("a"), Wish("b")});
  const double begun = world.time->Now();
  world.WaitForResults(2);
  world.trainer->Stop();
  CHECK(world.time->Now() - begun >= 30 + 3);
}

TEST_CASE("short fits come in between while a long one goes on, for at most half of the CPU") {
  FakeTime* time = nullptr;
  std::promise<void> wished;
  World world([&](const DemandSeries&, const FitOptions& how, std::string& weights) {
    if (weights.empty()) {  // the first: the long one
      weights = "w";
      wished.get_future().wait();
      for (int i = 0; i < 10; ++i) {
        time->Work(1);
        how.pause();
      }
    } else {
      time->Work(1);
    }
    return FitReport{};
  });
  time = world.time.get();
  world.trainer->SetWishes({Wish("network", 30, ForecastModel::kBiLstm)});
  world.WaitForLoads(1);
  std::vector<TrainingWish> cheap;
  for (int i = 0; i < 30; ++i) cheap.push_back(Wish("r" + std::to_string(i)));
  world.weights = Saved("short");
  world.trainer->SetWishes(cheap);
  wished.set_value();
  world.WaitForResults(31);
  world.trainer->Stop();
  const std::vector<std::string> order = world.Trained();
  const auto network = std::ranges::find(order, "network") - order.begin();
  CHECK(network == 10);
  CHECK(world.results[static_cast<size_t>(network)].seconds == Approx(10));
  CHECK(world.results[0].seconds == Approx(1));
}

TEST_CASE("networks of like cost are loaded together and handed over each as it ends") {
  FakeTime* time = nullptr;
  World* all = nullptr;
  std::vector<size_t> loaded;
  std::vector<size_t> handed_over;
  World world([&](const DemandSeries&, const FitOptions& how, std::string&) {
    loaded.push_back(all->loaded.size());
    handed_over.push_back(all->results.size());  // nobody else is at work meanwhile
    for (size_t i = 0; i < loaded.size(); ++i) {
      time->Work(1);
      how.pause();
    }
    return FitReport{};
  });
  time = world.time.get();
  all = &world;
  std::vector<TrainingWish> wishes;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    wishes.push_back(Wish(name, 20, ForecastModel::kBiLstm));
  }
  world.trainer->SetWishes(wishes);
  world.WaitForResults(5);
  world.trainer->Stop();
  CHECK(world.Trained() == std::vector<std::string>{"a", "b", "c", "d", "e"});
  CHECK(loaded == std::vector<size_t>{4, 4, 4, 4, 5});
  CHECK(handed_over == std::vector<size_t>{0, 1, 2, 3, 4});
  for (size_t i = 0; i < 5; ++i) {
    CHECK(world.results[i].seconds == Approx(static_cast<double>(i + 1)));
  }
}

TEST_CASE("a stop ends the fit under way, without a result") {
  std::promise<void> begun;
  World world([&](const DemandSeries&, const FitOptions& how, std::string&) -> Result<FitReport> {
    begun.set_value();
    while (!how.stop.stop_requested()) std::this_thread::yield();
    return Fail(ErrorCode::kUnavailable, "stopped");
  });
  world.trainer->SetWishes({Wish("a"), Wish("b")});
  begun.get_future().wait();
  world.trainer->Stop();
  CHECK(world.results.empty());
  CHECK(world.counters.fits_stopped == 1);
  CHECK(world.counters.fits_refused == 0);
  CHECK(world.counters.fits == 0);
  world.trainer->SetWishes({Wish("c")});
  world.trainer->Stop();
  CHECK(world.loaded.size() == 1);
}

TEST_CASE("a stop ends idling and waiting, too") {
  TrainingCounters counters;
  std::promise<void> done;
  const auto make = [](ForecastModel model, const Horizons&) {
    return std::make_unique<FakeForecaster>(
        model, [](const DemandSeries&, const FitOptions&, std::string&) {
          volatile double sum = 0;  // some CPU, of the machine's own time
          for (int i = 0; i < 3'000'000; ++i) sum = sum + i;
          return FitReport{};
        });
  };
  Trainer trainer(
      {.budget_ratio = 1e-6, .make = make}, counters,
      [](const TrainingWish& wish) {
        return TrainingTask{
            .wish = wish, .horizons = {}, .history = Minutes(1, 9), .weights = {}, .seed = 0};
      },
      [&](const TrainingResult&) { done.set_value(); });
  trainer.SetWishes({Wish("a")});
  done.get_future().wait();
  trainer.Stop();  // owes an hour by now
  CHECK(counters.spent_milliseconds >= 1);
}

TEST_CASE("new wishes replace those that have not begun") {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> fits = 0;
  World world([&](const DemandSeries&, const FitOptions&, std::string&) {
    if (fits++ == 0) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return FitReport{};
  });
  world.trainer->SetWishes({Wish("a"), Wish("b"), Wish("c")});
  begun.get_future().wait();
  CHECK(world.counters.queued_now == 2);
  CHECK(world.counters.overdue_ms_now == 20);
  world.trainer->SetWishes({Wish("a"), Wish("d")});  // a is under way
  CHECK(world.counters.queued_now == 1);
  go_on.set_value();
  world.WaitForResults(2);
  world.trainer->Stop();
  CHECK(world.Trained() == std::vector<std::string>{"a", "d"});
}

TEST_CASE("a refused fit is counted, and rests for ten minutes") {
  World world([](const DemandSeries&, const FitOptions&, std::string&) -> Result<FitReport> {
    return Fail(ErrorCode::kInvalidArgument, "it does not move");
  });
  world.absent = {"end"};
  world.trainer->SetWishes({Wish("flat")});
  while (world.counters.fits_refused != 1) std::this_thread::yield();
  world.time->Pass(599, 0);
  world.trainer->SetWishes({Wish("flat"), Wish("end", 0.02)});
  world.WaitForLoads(2);  // had it not rested, it would have come before the other
  CHECK(world.loaded == std::vector<std::string>{"flat", "end"});
  world.time->Pass(2, 0);
  world.trainer->SetWishes({Wish("flat")});
  world.WaitForLoads(3);
  world.trainer->Stop();
  CHECK(world.loaded.back() == "flat");
  CHECK(world.results.empty());
}

TEST_CASE("nothing is done without a budget, until there is one") {
  World world([](const DemandSeries&, const FitOptions&, std::string&) { return FitReport{}; }, 0);
  world.trainer->SetWishes({Wish("a")});
  CHECK(world.counters.queued_now == 1);
  CHECK(world.counters.overdue_ms_now == -1);
  CHECK(world.counters.budget_ratio_now == 0);
  CHECK(world.loaded.empty());
  world.trainer->SetBudget(0.5);
  world.WaitForResults(1);
  world.trainer->Stop();
  CHECK(world.counters.budget_ratio_now == 0.5);
}

TEST_CASE("the seed is that of workload, model and history") {
  const TrainingWish web = Wish("web");
  const uint64_t seed = TrainingSeed(web, 100);
  CHECK(seed != 0);
  CHECK(seed == TrainingSeed(web, 100));
  CHECK(seed != TrainingSeed(web, 101));
  CHECK(seed != TrainingSeed(Wish("we"), 100));
  CHECK(seed != TrainingSeed(Wish("web", 1, ForecastModel::kLstm), 100));
  TrainingWish moved = web;
  moved.owner = 9;
  CHECK(seed == TrainingSeed(moved, 100));
  std::vector<uint64_t> seen;
  World world([&](const DemandSeries&, const FitOptions& how, std::string&) {
    seen.push_back(how.seed);
    return FitReport{};
  });
  world.trainer->SetWishes({web});
  world.WaitForResults(1);
  world.trainer->Stop();
  CHECK(seen == std::vector{TrainingSeed(web, 29'000'500)});
}

}  // namespace tidemark::forecast
