#include <algorithm>
#include <deque>
#include <map>

#include "forecast/cpu_budget.h"
#include "forecast/training_queue.h"
#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

TrainingWish Wish(std::string workload, ForecastModel model, double staleness, double cost) {
  return {.owner = 0,
          .workload = std::move(workload),
          .model = model,
          .staleness = staleness,
          .cost_seconds = cost};
}

TrainingWish Ridge(std::string workload, double staleness = 1) {
  return Wish(std::move(workload), ForecastModel::kRidge30, staleness, 0.005);
}

TrainingWish Network(std::string workload, double staleness = 1, double cost = 30) {
  return Wish(std::move(workload), ForecastModel::kBiLstm, staleness, cost);
}

std::vector<std::string> Drain(TrainingQueue& queue, size_t most_together = 1) {
  std::vector<std::string> taken;
  while (queue.size() > 0) {
    std::string together;
    for (const TrainingWish& wish : queue.Take(most_together)) together += wish.workload;
    taken.push_back(together);
  }
  return taken;
}

}  // namespace

TEST_CASE("a budget of CPU is kept over any ten seconds, whatever the slices") {
  const double ratio = GENERATE(0.05, 0.25, 1.0);
  const double slice = GENERATE(0.001, 0.013, 0.4);
  CpuBudget budget(100);
  double now = 100;
  std::deque<std::pair<double, double>> slices;  // end, seconds
  double all = 0;
  while (now < 400) {
    now += slice;
    all += slice;
    budget.Spend(slice, ratio, now);
    slices.emplace_back(now, slice);
    while (slices.front().first <= now - 10) slices.pop_front();
    double window = 0;
    for (const auto& [end, seconds] : slices) window += seconds;
    REQUIRE(window <= ratio * (10 + CpuBudget::kLeastIdle) + slice + 1e-9);
    for (double idle = budget.IdleFor(ratio, now); idle > 0; idle = budget.IdleFor(ratio, now)) {
      REQUIRE(idle <= CpuBudget::kMostIdle);
      now += idle;
    }
  }
  CHECK(all >= 0.95 * ratio * 300);  // and it is used
}

TEST_CASE("time in which nothing was spent is not saved up, and a longer slice is paid for") {
  CpuBudget budget(0);
  CHECK(budget.IdleFor(0.5, 1000) == 0);
  budget.Spend(2, 0.5, 1002);
  CHECK(budget.IdleFor(0.5, 1002) == 1);
  CHECK(budget.IdleFor(0.5, 1003) == 1);
  CHECK(budget.IdleFor(0.5, 1004) == 0);
}

TEST_CASE("with another budget what is owed is paid at its rate, with none never") {
  CpuBudget budget(0);
  budget.Spend(1.5, 0.5, 1);
  CHECK(budget.IdleFor(0, 1) == CpuBudget::kMostIdle);
  CHECK(budget.IdleFor(1, 1) == Approx(1));
  CHECK(budget.IdleFor(1, 2) == 0);
}

TEST_CASE("fits come by cheapness and staleness") {
  TrainingQueue queue;
  queue.Set({Network("n", 1.5), Ridge("a"), Ridge("b", 1.9), Wish("w", ForecastModel::kArima, 1, 2),
             Ridge("c", 1.2)},
            0);
  CHECK(queue.Seconds() == Approx(32.015));
  CHECK(Drain(queue) == std::vector<std::string>{"b", "c", "a", "w", "n"});
  CHECK(queue.Seconds() == 0);
}

TEST_CASE("equal fits come in the same order, however they were wished") {
  std::vector<TrainingWish> wishes;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) wishes.push_back(Ridge(name));
  std::vector<std::string> first;
  do {
    TrainingQueue queue;
    queue.Set(wishes, 0);
    const std::vector<std::string> order = Drain(queue);
    if (first.empty()) first = order;
    REQUIRE(order == first);
  } while (std::ranges::next_permutation(wishes, {}, &TrainingWish::workload).found);
}

TEST_CASE("networks of like cost are given out together, others alone") {
  TrainingQueue queue;
  queue.Set({Network("1"), Network("2"), Network("3"), Network("x", 1, 300), Ridge("a"), Ridge("b"),
             Wish("l", ForecastModel::kLstm, 1, 30)},
            0);
  const std::vector<std::string> order = Drain(queue, 2);
  CHECK(std::ranges::count(order, "12") == 1);
  CHECK(std::ranges::count(order, "3") == 1);
  CHECK(std::ranges::count(order, "l") == 1);
  CHECK(order.front() == "a");
  CHECK(order.back() == "x");
}

TEST_CASE("what is under way or rests is not taken in again") {
  TrainingQueue queue;
  queue.Set({Ridge("a"), Ridge("b")}, 0);
  const TrainingWish a = queue.Take(1).front();
  REQUIRE(a.workload == "a");
  queue.Set({Ridge("a"), Ridge("b")}, 1000);
  CHECK(queue.size() == 1);
  queue.End(a, 1060);
  queue.Set({Ridge("a"), Ridge("b")}, 1059);
  CHECK(queue.size() == 1);
  queue.Set({Ridge("a"), Ridge("b")}, 1060);
  CHECK(queue.size() == 2);
  queue.Set({Wish("a", ForecastModel::kRidge60, 1, 0.005)}, 1060);
  CHECK(queue.size() == 1);
}

TEST_CASE("only short fits come in between") {
  TrainingQueue queue;
  queue.Set({Network("n", 100'000), Ridge("a")}, 0);
  CHECK(queue.HasShort());
  CHECK(queue.TakeShort().front().workload == "a");
  CHECK_FALSE(queue.HasShort());
  CHECK(queue.TakeShort().empty());
  CHECK(queue.size() == 1);
}

TEST_CASE("nothing waits for ever, even where cheap fits become due faster than they are done") {
  // Of every second of fits half a second is due again at once, as staleness grows: cheapness alone
  // would never come to the network.
  struct State {
    TrainingWish wish;
    double period;
    double done_at;
  };
  std::vector<State> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back({Wish("r" + std::to_string(i), ForecastModel::kRidge30, 1, 0.5), 60, 0});
  }
  all.push_back({Network("n", 1, 30), 240, 0});
  TrainingQueue queue;
  double now = 240;
  std::map<std::string, int> fits;
  while (now < 20'000) {
    std::vector<TrainingWish> due;
    for (State& state : all) {
      state.wish.staleness = (now - state.done_at) / state.period;
      if (state.wish.staleness >= 1) due.push_back(state.wish);
    }
    queue.Set(due, now);
    if (queue.size() == 0) {
      now += 1;
      continue;
    }
    const TrainingWish taken = queue.Take(1).front();
    now += taken.cost_seconds;
    queue.End(taken, now);
    ++fits[taken.workload];
    std::ranges::find(all, taken.workload, [](const State& s) {
      return s.wish.workload;
    })->done_at = now;
  }
  CHECK(fits["n"] >= 20);
  CHECK(fits["n"] <= 200);
  int least = fits["r0"];
  for (int i = 0; i < 200; ++i) least = std::min(least, fits["r" + std::to_string(i)]);
  CHECK(least >= 20);
}

}  // namespace tidemark::forecast
