// High-water marks from samples to advice: they know the tail, outlive restarts, merges, back-fill
// and profiles, and can be the request.
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/durable.h"
#include "tests/engine/profiles.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr double kMi = 1024.0 * 1024;
constexpr int kDay = 1440;

/// What a pod's containers use, hour by hour in one request each.
class Load {
 public:
  explicit Load(uint64_t seed, std::string pod = "db-0", std::string container = "app")
      : random_(seed), pod_(std::move(pod)), container_(std::move(container)) {}

  /// CPU whose tail is known: P(X > level + y) = exp(-y); memory of 200 Mi and up to 60 more.
  std::vector<FeedSeries> Hour(double level = 1, int minutes = 60) {
    FeedSeries cpu{Cpu(pod_, container_), {}};
    FeedSeries memory{Memory(pod_, container_), {}};
    for (int i = 0; i < minutes; ++i) {
      if (minute_ == 0) cpu.samples.push_back({now_ms(), 0});
      ++minute_;
      counter_ += 60 * (level + std::exponential_distribution<double>(1)(random_));
      cpu.samples.push_back({now_ms(), counter_});
      const double bytes = 200 * kMi + 60 * kMi * std::generate_canonical<double, 53>(random_);
      most_bytes_ = std::max(most_bytes_, bytes);
      memory.samples.push_back({now_ms(), bytes});
    }
    return {cpu, memory};
  }
  int64_t now_ms() const { return kT0 + minute_ * 60'000; }
  double most_bytes() const { return most_bytes_; }

 private:
  std::mt19937_64 random_;
  std::string pod_;
  std::string container_;
  int64_t minute_ = 0;
  double counter_ = 0;
  double most_bytes_ = 0;
};

void Feed(Bench& bench, Load& load, int hours, double level = 1) {
  for (int i = 0; i < hours; ++i) bench.Put(load.Hour(level));
}

ResourceExplanation Explain(engine::Engine& engine, Resource resource,
                            const std::string& container = "app") {
  const auto all = engine.ExplainRequests("shop", "statefulset", "db");
  REQUIRE(all);
  for (const ContainerExplanation& each : all->front().containers) {
    if (each.container != container) continue;
    for (const ResourceExplanation& of : each.resources) {
      if (of.advice.resource == resource) return of;
    }
  }
  FAIL("nothing is known of " << container);
  return {};
}

const ExplanationStep& First(const ResourceExplanation& of) {
  REQUIRE_FALSE(of.steps.empty());
  return of.steps.front();
}

std::vector<double> Values(const ResourceAdvice& advice) {
  std::vector<double> values;
  for (const HighWaterMark& mark : advice.high_water) values.push_back(mark.value);
  return values;
}

engine::Options With(const std::function<void(Profile&)>& change) {
  engine::Options options;
  options.profiles = ByPercentile(change);
  return options;
}

void ByMark(Profile& profile) {
  for (ResourceRule& rule : profile.resources) rule.basis = Basis::kHighWater;
}

std::vector<FeedSeries> LimitOf(double cores, int64_t time_ms) {
  return {
      {Request("db-0", "cpu", "app", "kube_pod_container_resource_limits"), {{time_ms, cores}}}};
}

}  // namespace

TEST_CASE("marks of a workload are where the tail of its use has them", "[engine][high_water]") {
  Bench bench(With([](Profile& profile) { profile.high_water_risks = {0.01, 0.001, 0.0001}; }));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Load load(1);
  bench.Put(load.Hour(1, 20));
  CHECK(bench.Find("db", "app", Resource::kCpu)->high_water.empty());  // no full hour yet
  Feed(bench, load, 5 * 24);

  const auto cpu = bench.Find("db", "app", Resource::kCpu);
  REQUIRE(cpu);
  REQUIRE(cpu->high_water.size() == 3);
  for (const HighWaterMark& mark : cpu->high_water) {
    INFO("risk " << mark.risk);
    CHECK(mark.value == Approx(1 - std::log(mark.risk)).epsilon(0.12));
    CHECK(mark.fitted);
    CHECK(mark.confident);
    CHECK_FALSE(mark.censored);
  }
  const auto memory = bench.Find("db", "app", Resource::kMemory);
  REQUIRE(memory);
  REQUIRE(memory->high_water.size() == 3);
  for (const HighWaterMark& mark : memory->high_water) {
    CHECK(mark.value > 255 * kMi);
    CHECK(mark.value <= 1.5 * load.most_bytes());
  }
  const ResourceExplanation shown = Explain(bench.engine, Resource::kCpu);
  CHECK(Values(shown.advice) == Values(*cpu));
  REQUIRE(shown.high_water);
  CHECK(shown.high_water->observations > 5 * kDay - 60);
  CHECK(shown.high_water->excesses > 100);
  CHECK(shown.high_water->clusters > 50);
  CHECK(shown.high_water->method == "moments");
  CHECK(shown.high_water->shape == Approx(0).margin(0.3));
  CHECK(shown.high_water->threshold == Approx(1 - std::log(0.02)).epsilon(0.1));
  CHECK(shown.high_water->note.empty());
}

TEST_CASE("marks stand over a restart, from the journal and from a checkpoint",
          "[engine][high_water]") {
  const bool with_checkpoint = GENERATE(false, true);
  INFO("with a checkpoint: " << with_checkpoint);
  MemoryStore store;
  std::vector<double> before;
  std::string state;
  Load load(2);
  {
    const auto durable = Open(store);
    Write(durable->engine, {{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}});
    for (int i = 0; i < 60; ++i) {
      durable->clock.Set(FromUnixMs(load.now_ms() + 3'600'000));
      Write(durable->engine, load.Hour());
    }
    before = Values(Explain(durable->engine, Resource::kCpu).advice);
    if (with_checkpoint) REQUIRE(durable->engine.Checkpoint());
  }
  REQUIRE(before.size() == 2);
  const auto again = Open(store);
  CHECK(Values(Explain(again->engine, Resource::kCpu).advice) == before);
  again->clock.Set(FromUnixMs(load.now_ms() + 7'200'000));
  Write(again->engine, load.Hour());
  Write(again->engine, load.Hour());
  CHECK(Explain(again->engine, Resource::kCpu).high_water->observations > 60 * 60);
  CHECK(Values(Explain(again->engine, Resource::kCpu).advice) != before);
}

TEST_CASE("pods of a workload share its marks, also those whose owner is told late",
          "[engine][high_water]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Load first(3);
  Load second(4, "db-1");
  bench.Put(first.Hour(1, 3));
  bench.Put(second.Hour(1, 3));  // hidden: nobody knows whose it is
  bench.Put(PodOwner("db-1", "StatefulSet", "db"), first.now_ms(), 1);
  for (int i = 0; i < 30; ++i) {
    bench.Put(first.Hour());
    bench.Put(second.Hour(3));
  }
  const ResourceExplanation cpu = Explain(bench.engine, Resource::kCpu);
  REQUIRE(cpu.high_water);
  CHECK(cpu.high_water->observations > 2 * 30 * 60 - 130);
  // Of all minutes: half of those of the second pod, whose use is 2 cores higher.
  CHECK(cpu.advice.high_water[1].value == Approx(3 - std::log(0.001 * 2)).epsilon(0.15));
}

TEST_CASE("a past that is merged has its marks, and goes on with what is live",
          "[engine][high_water]") {
  MemoryStore store;
  const auto durable = Open(store);
  Load load(5);
  const auto past = durable->engine.OpenPast({{"", "shop"}}, kT0 + 2 * kDay * 60'000);
  REQUIRE(past);
  const auto add = [&](const std::vector<FeedSeries>& request) {
    std::vector<std::string> bytes;
    for (const FeedSeries& series : request) {
      std::vector<LabelView> labels;
      for (const auto& [name, value] : series.labels) labels.push_back({name, value});
      bytes.push_back(EncodeLabels(labels));
      (*past)->Add({labels, bytes.back(), series.samples});
    }
    (*past)->ApplySlice();
  };
  add({{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}});
  for (int i = 0; i < 48; ++i) {
    add(load.Hour());
    add({{PodOwner("db-0", "StatefulSet", "db"), {{load.now_ms(), 1}}}});
  }
  durable->clock.Set(FromUnixMs(load.now_ms()));
  REQUIRE((*past)->Merge("done"));
  const auto merged = Explain(durable->engine, Resource::kCpu);
  REQUIRE(merged.high_water);
  CHECK(merged.high_water->observations > 2 * kDay - 70);
  REQUIRE(merged.advice.high_water.size() == 2);
  CHECK(merged.advice.high_water[1].value == Approx(1 + std::log(1000)).epsilon(0.2));
  durable->clock.Set(FromUnixMs(load.now_ms() + 7'200'000));
  Write(durable->engine, {{PodOwner("db-0", "StatefulSet", "db"), {{load.now_ms(), 1}}}});
  Write(durable->engine, load.Hour());
  Write(durable->engine, load.Hour());
  CHECK(Explain(durable->engine, Resource::kCpu).high_water->observations >
        merged.high_water->observations);
}

TEST_CASE("marks go on when a profile takes other samples", "[engine][high_water]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Load load(6);
  Feed(bench, load, 30);
  const auto before = Explain(bench.engine, Resource::kCpu);
  REQUIRE(before.high_water);
  bench.engine.SetProfiles(ByPercentile([](Profile& profile) {
    profile.rule(Resource::kCpu).samples = SampleKind::kPeakPerWindow;
    profile.rule(Resource::kCpu).high_water.method = TailMethod::kMle;
    profile.high_water_risks = {0.001};
  }));
  const auto after = Explain(bench.engine, Resource::kCpu);
  CHECK(after.high_water->observations == before.high_water->observations);
  CHECK(Values(after.advice) == std::vector{Values(before.advice).back()});
  Feed(bench, load, 2);
  CHECK(Explain(bench.engine, Resource::kCpu).high_water->method == "mle");
}

TEST_CASE("a request by its mark is the mark, then margin and bounds", "[engine][high_water]") {
  Bench bench(With(ByMark));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Load load(7);
  bench.Put(load.Hour(1, 20));
  {
    const auto cpu = Explain(bench.engine, Resource::kCpu);
    CHECK(First(cpu).name == "high_water");
    CHECK(First(cpu).what.find("no high-water mark before the first full hour") !=
          std::string::npos);
    CHECK(First(cpu).what.find("percentile 90 of 20 samples") != std::string::npos);
    CHECK_FALSE(cpu.advice.Has(AdviceMark::kHighWater));
    CHECK(cpu.advice.recommended_request);
  }
  Feed(bench, load, 3 * 24);
  const auto cpu = Explain(bench.engine, Resource::kCpu);
  const double mark = cpu.advice.high_water[1].value;
  CHECK(First(cpu).name == "high_water");
  CHECK(First(cpu).value == mark);
  CHECK(First(cpu).what.find("passed in a minute with a probability of 0.001: the tail of") == 0);
  CHECK(cpu.advice.Has(AdviceMark::kHighWater));
  CHECK(*cpu.advice.model_request == Approx(mark).margin(0.001));
  CHECK(*cpu.advice.recommended_request == Approx(1.15 * mark).margin(0.002));
  CHECK(*cpu.advice.lower_bound < *cpu.advice.recommended_request);
  CHECK(*cpu.advice.upper_bound > *cpu.advice.recommended_request);
  const auto memory = Explain(bench.engine, Resource::kMemory);
  CHECK(*memory.advice.model_request <= 1.5 * load.most_bytes());
  CHECK(*memory.advice.model_request > 0.95 * load.most_bytes());
}

TEST_CASE("a request does not trust a tail of few separate peaks, and says so",
          "[engine][high_water]") {
  Bench bench(With(ByMark));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  double counter = 0;
  double most = 0;
  std::mt19937_64 random(8);
  for (int hour = 0; hour < 30; ++hour) {
    FeedSeries cpu{Cpu("db-0"), {}};
    for (int i = 0; i <= 60; ++i) {
      const int minute = hour * 60 + i;
      if (i > 0) {
        // One peak of an hour, once.
        const double cores = hour == 20 ? 2 + std::generate_canonical<double, 53>(random) : 0.1;
        most = std::max(most, cores);
        counter += 60 * cores;
      }
      if (i > 0 || hour == 0) cpu.samples.push_back({kT0 + minute * 60'000LL, counter});
    }
    bench.Put({cpu});
  }
  const auto cpu = Explain(bench.engine, Resource::kCpu);
  REQUIRE(cpu.high_water);
  CHECK(cpu.high_water->clusters == 1);
  CHECK(cpu.high_water->note == "1 separate peak only, of which a tail needs 5 to be trusted");
  CHECK(First(cpu).what.find("the highest use of 7 days, as there are 1 separate peak only") !=
        std::string::npos);
  CHECK(First(cpu).value == Approx(most).epsilon(1e-4));
  for (const HighWaterMark& mark : cpu.advice.high_water) {
    CHECK_FALSE(mark.confident);
    CHECK(mark.value <= 3.0001 * most);
  }
}

TEST_CASE("no mark is above the limit, and use that lies there is said to be censored",
          "[engine][high_water]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  double counter = 0;
  int64_t now_ms = kT0;
  std::mt19937_64 random(9);
  bench.Put(Cpu("db-0"), kT0, 0);
  for (int hour = 0; hour < 30; ++hour) {
    FeedSeries cpu{Cpu("db-0"), {}};
    for (int i = 0; i < 60; ++i) {
      now_ms += 60'000;
      const double wanted = 1 + std::exponential_distribution<double>(1)(random);
      counter += 60 * std::min(4.0, wanted);
      cpu.samples.push_back({now_ms, counter});
    }
    bench.Put({cpu});
  }
  bench.Put(LimitOf(4, now_ms));
  const auto cpu = bench.Find("db", "app", Resource::kCpu);
  REQUIRE(cpu->high_water.size() == 2);
  CHECK(cpu->current_limit == 4);
  for (const HighWaterMark& mark : cpu->high_water) {
    CHECK(mark.value <= 4);
    CHECK(mark.value > 3.9);
    CHECK(mark.censored);
  }
  CHECK(Explain(bench.engine, Resource::kCpu).high_water->note.find("use lies at the limit") !=
        std::string::npos);
}

TEST_CASE("containers that are read together have the highest mark among them",
          "[engine][high_water]") {
  Bench bench(With([](Profile& profile) { profile.level = Level::kWorkload; }));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Load app(10);
  Load side(11, "db-0", "side");
  for (int i = 0; i < 30; ++i) {
    bench.Put(app.Hour(1));
    bench.Put(side.Hour(6));
  }
  const auto of_app = Values(*bench.Find("db", "app", Resource::kCpu));
  const auto of_side = Values(*bench.Find("db", "side", Resource::kCpu));
  REQUIRE(of_app.size() == 2);
  CHECK(of_app == of_side);
  CHECK(of_app[1] == Approx(6 + std::log(1000)).epsilon(0.15));
}

TEST_CASE("a pod's sum has marks, of which each container has its share", "[engine][high_water]") {
  Bench bench(With([](Profile& profile) { profile.level = Level::kPod; }));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Load app(12);
  Load side(13, "db-0", "side");
  for (int i = 0; i < 600; ++i) {  // a sum waits five minutes for a container that falls behind
    auto request = app.Hour(1, 4);
    for (FeedSeries& series : side.Hour(1, 4)) request.push_back(std::move(series));
    bench.Put(request);
  }
  bench.Put({{Request("db-0", "cpu"), {{app.now_ms(), 3}}},
             {Request("db-0", "cpu", "side"), {{app.now_ms(), 1}}}});
  const auto of_app = Values(*bench.Find("db", "app", Resource::kCpu));
  const auto of_side = Values(*bench.Find("db", "side", Resource::kCpu));
  REQUIRE(of_app.size() == 2);
  REQUIRE(of_side.size() == 2);
  CHECK(of_app[1] == Approx(3 * of_side[1]));
  // The sum of two: P(X > 2 + y) = (1 + y) exp(-y), a thousandth of it at y = 9.2.
  CHECK(of_app[1] + of_side[1] == Approx(11.2).epsilon(0.15));
}
