// Demand of workloads through the engine: shown, trained in the background, taken into use through
// the journal, kept over restarts.
#include <chrono>
#include <cmath>
#include <thread>

#include "engine/demand_tracks.h"
#include "engine/journal_record.h"
#include "tests/engine/durable.h"

using namespace tidemark;
using namespace tidemark::testing;
using namespace std::chrono_literals;

namespace {

constexpr int64_t kMinute = 60'000;

/// A swing of 24 minutes, which no last value follows.
double Load(int64_t minute) {
  return 3 + 1.5 * std::sin(2 * 3.14159265358979 * static_cast<double>(minute) / 24);
}

/// Minutes of a Deployment of two pods in one namespace.
class Rhythm {
 public:
  explicit Rhythm(std::string name = "web", std::string ns = "shop")
      : name_(std::move(name)), ns_(std::move(ns)) {}

  void Go(engine::Engine& engine, ManualClock& clock, int minutes) {
    for (int i = 0; i < minutes; ++i, ++minute_) {
      const int64_t at = kT0 + minute_ * kMinute;
      clock.Set(FromUnixMs(at));
      spent_ += minute_ == 0 ? 0 : 60 * Load(kT0 / kMinute + minute_ - 1);
      std::vector<FeedSeries> request = {
          {ReplicaSetOwner(name_ + "-5c9", "Deployment", name_, ns_), {{at, 1}}}};
      for (const std::string pod : {"-a", "-b"}) {
        const std::string full = name_ + "-5c9" + pod;
        request.push_back({PodOwner(full, "ReplicaSet", name_ + "-5c9", ns_), {{at, 1}}});
        LabelMap asked = Request(full, "cpu");
        asked["namespace"] = ns_;
        request.push_back({asked, {{at, 2}}});
        request.push_back({Cpu(full, "app", ns_), {{at, spent_ / 2}}});
      }
      Write(engine, request);
    }
  }
  /// Start of the newest minute that is complete.
  int64_t newest_ms() const { return kT0 + (minute_ - 2) * kMinute; }

 private:
  std::string name_;
  std::string ns_;
  int64_t minute_ = 0;
  double spent_ = 0;
};

std::shared_ptr<const WorkloadForecast> ForecastOf(engine::Engine& engine,
                                                   const std::string& workload = "web") {
  engine.Tick();
  for (const auto& block : engine.Current()->blocks) {
    for (const WorkloadAdvice& advice : block->workloads) {
      if (advice.id.workload == workload) return advice.forecast;
    }
  }
  return nullptr;
}

ForecastExplanation Explained(engine::Engine& engine) {
  const auto all = engine.ExplainRequests("shop", "deployment", "web");
  REQUIRE(all);
  REQUIRE(all->size() == 1);
  REQUIRE(all->front().forecast);
  return *all->front().forecast;
}

engine::Options With(ForecastSettings settings) {
  engine::Options options;
  options.shards = 2;
  options.forecast = std::make_shared<const ForecastSettings>(std::move(settings));
  return options;
}

/// A durable engine whose models are trained.
struct Trained {
  ManualClock clock{FromUnixMs(kT0)};
  EngineCounters counters;
  StorageCounters storage;
  TrainingCounters training;
  engine::Engine engine;

  explicit Trained(MemoryStore& store, engine::Options options = {})
      : engine(Durable::Quiet(options), {}, clock, counters, {&store, &storage}, &training) {
    REQUIRE(engine.Recover());
  }
  void WaitForModels(uint64_t count) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (training.activated.load() < count) {
      engine.Tick();
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::sleep_for(10ms);
    }
  }
};

}  // namespace

TEST_CASE("The demand of a workload is what its pods use together", "[forecast]") {
  Bench bench;
  Rhythm web;
  web.Go(bench.engine, bench.clock, 100);
  const auto shown = ForecastOf(bench.engine);
  REQUIRE(shown);
  CHECK(shown->resource == Resource::kCpu);
  CHECK(shown->minute_ms == web.newest_ms());
  REQUIRE(shown->demand);
  CHECK(*shown->demand == Approx(Load(web.newest_ms() / kMinute)).epsilon(1e-3));
  REQUIRE(shown->request);
  CHECK(*shown->request == 2);  // of one pod
  REQUIRE(shown->horizons.size() == 3);
  CHECK(shown->horizons[0].horizon_seconds == 60);
  const ForecastExplanation all = Explained(bench.engine);
  CHECK(all.history.size() == 99);
  CHECK(all.now.minute_ms == shown->minute_ms);
}

TEST_CASE("A forecast is withdrawn when no minute has come for five", "[forecast]") {
  Bench bench;
  Rhythm web;
  web.Go(bench.engine, bench.clock, 100);
  Rhythm other("other");
  REQUIRE(ForecastOf(bench.engine)->demand);
  // Nothing comes at all: the wall clock goes on.
  for (int i = 0; i < 8; ++i) {
    bench.clock.Set(FromUnixMs(web.newest_ms() + (2 + i) * kMinute));
    bench.engine.Tick();
  }
  const auto withdrawn = ForecastOf(bench.engine);
  REQUIRE(withdrawn);
  CHECK_FALSE(withdrawn->demand);
  CHECK(withdrawn->horizons.empty());
  CHECK_FALSE(withdrawn->why.empty());
}

TEST_CASE("What nobody asked for is not kept", "[forecast]") {
  ForecastSettings settings;
  ForecastRule none;
  none.selector = *Selector::Parse(R"({workload="web"})");
  none.steps = DemandSteps::kNone;
  settings.rules = {none};
  engine::Options options = With(settings);
  options.profiles = ByPercentile();
  Bench bench(options);
  Rhythm web;
  Rhythm api("api");
  web.Go(bench.engine, bench.clock, 20);
  api.Go(bench.engine, bench.clock, 40);
  CHECK(ForecastOf(bench.engine, "web") == nullptr);
  REQUIRE(ForecastOf(bench.engine, "api") != nullptr);
  // Asked for now, it begins; the other goes on.
  bench.engine.SetForecast(std::make_shared<const ForecastSettings>());
  web.Go(bench.engine, bench.clock, 60);
  REQUIRE(ForecastOf(bench.engine, "web") != nullptr);
  CHECK(Explained(bench.engine).history.size() > 30);
}

TEST_CASE("More workloads than there are places are drawn only", "[forecast]") {
  ForecastSettings settings;
  settings.max_workloads = 1;
  engine::Options options = With(settings);
  options.profiles = ByPercentile();
  Bench bench(options);
  Rhythm web;
  web.Go(bench.engine, bench.clock, 10);
  Rhythm api("api");
  api.Go(bench.engine, bench.clock, 30);
  CHECK(ForecastOf(bench.engine, "web")->steps == DemandSteps::kMinutes);
  const auto drawn = ForecastOf(bench.engine, "api");
  REQUIRE(drawn);
  CHECK(drawn->steps == DemandSteps::kFiveMinutes);
  CHECK(drawn->horizons.empty());
  CHECK(drawn->why.find("max_workloads") != std::string::npos);
}

TEST_CASE("Places are as many as there are, over restarts and reloads", "[forecast][durability]") {
  MemoryStore disk;
  ForecastSettings settings;
  settings.max_workloads = 1;
  const engine::Options options = With(settings);
  Rhythm web;
  Rhythm api("api");
  const auto steps = [](Durable& durable, const std::string& workload) {
    const auto shown = ForecastOf(durable.engine, workload);
    REQUIRE(shown);
    return shown->steps;
  };
  const auto history = [](Durable& durable) {
    const auto all = durable.engine.ExplainRequests("shop", "deployment", "api");
    REQUIRE(all);
    return all->at(0).forecast->history.size();
  };
  size_t drawn = 0;
  {
    const auto durable = Open(disk, options);
    web.Go(durable->engine, durable->clock, 10);
    api.Go(durable->engine, durable->clock, 40);
    web.Go(durable->engine, durable->clock, 35);
    drawn = history(*durable);
    CHECK(drawn >= 6);
    REQUIRE(durable->engine.Checkpoint());
  }
  const auto durable = Open(disk, options);
  durable->clock.Set(FromUnixMs(web.newest_ms() + kMinute));
  web.Go(durable->engine, durable->clock, 5);
  api.Go(durable->engine, durable->clock, 10);
  CHECK(steps(*durable, "web") == DemandSteps::kMinutes);
  CHECK(steps(*durable, "api") == DemandSteps::kFiveMinutes);
  CHECK(history(*durable) >= drawn);

  const auto with_places = [&](int32_t count) {
    ForecastSettings other;
    other.max_workloads = count;
    durable->engine.SetForecast(std::make_shared<const ForecastSettings>(std::move(other)));
    web.Go(durable->engine, durable->clock, 10);
    api.Go(durable->engine, durable->clock, 10);
  };
  with_places(5);  // there is one for it now
  CHECK(steps(*durable, "api") == DemandSteps::kMinutes);
  CHECK(steps(*durable, "web") == DemandSteps::kMinutes);
  with_places(1);
  CHECK((steps(*durable, "api") == DemandSteps::kMinutes) !=
        (steps(*durable, "web") == DemandSteps::kMinutes));
  with_places(0);
  CHECK(steps(*durable, "web") == DemandSteps::kNone);
  const auto nothing = ForecastOf(durable->engine, "web");
  CHECK(nothing->why.find("nothing is kept") != std::string::npos);
}

TEST_CASE("Models are trained beside the stream and outlive the process through the journal",
          "[forecast][durability]") {
  MemoryStore disk;
  Rhythm web;
  std::shared_ptr<const WorkloadForecast> before;
  std::vector<ForecastExplanation::Fitted> fitted;
  {
    Trained first(disk);
    web.Go(first.engine, first.clock, 8 * 60);
    first.WaitForModels(2);
    web.Go(first.engine, first.clock, 16 * 60);
    before = ForecastOf(first.engine);
    fitted = Explained(first.engine).fitted;
    REQUIRE(before->horizons.size() == 3);
    const HorizonForecast& three = before->horizons[1];
    CHECK(three.model != ForecastModel::kLastValue);
    const int64_t truth = before->minute_ms / kMinute + 3;
    CHECK(three.demand == Approx(Load(truth)).margin(0.2));
    REQUIRE(three.lower);
    CHECK(*three.lower <= three.demand);
    CHECK(*three.upper >= three.demand);
    CHECK(first.training.fits.load() >= 2);
    // Killed: nothing is written at the end.
  }
  // From the journal alone, and then from a checkpoint; nothing is trained.
  for (const bool checkpoint : {false, true}) {
    INFO("checkpoint " << checkpoint);
    const auto again = std::make_unique<Durable>(disk);
    again->clock.Set(FromUnixMs(before->minute_ms + 2 * kMinute));
    REQUIRE(again->engine.Recover());
    const auto after = ForecastOf(again->engine);
    REQUIRE(after);
    REQUIRE(after->horizons.size() == before->horizons.size());
    for (size_t i = 0; i < after->horizons.size(); ++i) {
      CHECK(after->horizons[i].model == before->horizons[i].model);
      CHECK(after->horizons[i].demand == before->horizons[i].demand);
      CHECK(after->horizons[i].lower == before->horizons[i].lower);
      CHECK(after->horizons[i].coverage_ratio == before->horizons[i].coverage_ratio);
    }
    const auto models = Explained(again->engine).fitted;
    REQUIRE(models.size() == fitted.size());
    for (size_t i = 0; i < models.size(); ++i) {
      CHECK(models[i].model == fitted[i].model);
      CHECK(models[i].trained_ms == fitted[i].trained_ms);
    }
    if (!checkpoint) REQUIRE(again->engine.Checkpoint());
  }
}

TEST_CASE("The record of a trained model is read as it was written, and nothing else is",
          "[forecast][durability]") {
  engine::ModelRecord model;
  model.name_space = 0x1234;
  model.workload_type = "deployment";
  model.workload = "web";
  model.fitted.model = ForecastModel::kRidge60;
  model.fitted.weights = "weights";
  model.fitted.trained_minute = 28'000'000;
  model.fitted.seconds = 0.25;
  model.fitted.report = {.iterations = 7, .loss = 0.5, .what = "what"};
  std::string record;
  engine::EncodeModel(model, record);
  const auto read = engine::DecodeModel(record);
  REQUIRE(read);
  CHECK(read->name_space == model.name_space);
  CHECK(read->workload_type == "deployment");
  CHECK(read->workload == "web");
  CHECK(read->fitted.model == ForecastModel::kRidge60);
  CHECK(read->fitted.weights == "weights");
  CHECK(read->fitted.trained_minute == 28'000'000);
  CHECK(read->fitted.report.iterations == 7);
  CHECK(read->fitted.report.what == "what");
  for (size_t cut = 0; cut < record.size(); ++cut) {
    CHECK_FALSE(engine::DecodeModel(std::string_view(record).substr(0, cut)));
  }
  CHECK_FALSE(engine::DecodeModel(record + "x"));
}

TEST_CASE("Places are counted by their kind", "[forecast]") {
  engine::DemandPlaces places;
  CHECK(places.TryTake(DemandSteps::kMinutes, 1));
  CHECK_FALSE(places.TryTake(DemandSteps::kMinutes, 1));
  for (int i = 0; i < 10; ++i) CHECK(places.TryTake(DemandSteps::kFiveMinutes, 1));
  CHECK_FALSE(places.TryTake(DemandSteps::kFiveMinutes, 1));
  places.GiveBack(DemandSteps::kMinutes);
  CHECK(places.TryTake(DemandSteps::kMinutes, 1));
}
