// A past that is merged: once, strictly before what is live, and durably.
#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/durable.h"
#include "tests/engine/profiles.h"
#include "tests/engine/traffic.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

namespace json = boost::json;

const std::vector<NamespaceName> kAll = {{"", "ns-0"}, {"", "ns-1"}, {"", "ns-2"}, {"", "ns-3"}};
constexpr int64_t kDayMs = 86'400'000;

using Requests = std::vector<std::vector<FeedSeries>>;

/// The same traffic at another time.
Requests Moved(Requests requests, int64_t by_ms) {
  for (auto& request : requests) {
    for (auto& series : request) {
      for (Sample& sample : series.samples) sample.timestamp_ms += by_ms;
    }
  }
  return requests;
}

std::unique_ptr<Past> Build(engine::Engine& engine, const Requests& requests, int64_t end_ms,
                            const std::vector<NamespaceName>& of = kAll) {
  auto past = engine.OpenPast(of, end_ms);
  REQUIRE(past);
  for (const auto& request : requests) {
    std::vector<std::string> bytes;
    bytes.reserve(request.size());
    for (const FeedSeries& series : request) {
      std::vector<LabelView> labels;
      for (const auto& [name, value] : series.labels) labels.push_back({name, value});
      bytes.push_back(EncodeLabels(labels));
      (*past)->Add({labels, bytes.back(), series.samples});
    }
    (*past)->ApplySlice();
  }
  return std::move(*past);
}

PastOutcome Merge(Past& past, std::string_view cursor = "done") {
  const auto outcome = past.Merge(cursor);
  REQUIRE(outcome);
  return *outcome;
}

bool Near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), 1e-9); }

/// Weights of buckets are kept in four bytes, and the order of the sums differs.
bool NearWeight(double a, double b) { return std::abs(a - b) <= 1e-4 * std::max(a, b); }

/// Counts and times exactly, the sum of the weights to 1e-9, as of one reference time.
void CheckSameState(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    json::object x = json::parse(a[i]).as_object();
    json::object y = json::parse(b[i]).as_object();
    INFO(a[i] << "\n" << b[i]);
    if (!x.contains("total_weight")) {
      CHECK(x["series"] == y["series"]);
      continue;
    }
    for (const char* key : {"workload", "container", "resource", "samples", "first_sample_ms",
                            "last_sample_ms", "first_minute_ms", "past_until_ms"}) {
      INFO(key);
      CHECK(x[key] == y[key]);
    }
    constexpr double kHalfLifeMs = 86'400'000;
    const double apart =
        (x["reference_ms"].to_number<double>() - y["reference_ms"].to_number<double>()) /
        kHalfLifeMs;
    const double factor = std::exp2(apart);  // weights as of x, brought to y
    CHECK(Near(x["total_weight"].to_number<double>() * factor,
               y["total_weight"].to_number<double>()));
    const auto& of_x = x["buckets"].as_array();
    const auto& of_y = y["buckets"].as_array();
    REQUIRE(of_x.size() == of_y.size());
    for (size_t k = 0; k < of_x.size(); ++k) {
      CHECK(of_x[k].as_array()[0] == of_y[k].as_array()[0]);
      CHECK(NearWeight(of_x[k].as_array()[1].to_number<double>() * factor,
                       of_y[k].as_array()[1].to_number<double>()));
    }
  }
}

uint64_t SamplesIn(const std::vector<std::string>& state) {
  uint64_t samples = 0;
  for (const std::string& line : state) {
    const json::object object = json::parse(line).as_object();
    if (object.contains("samples")) samples += object.at("samples").to_number<uint64_t>();
  }
  return samples;
}

}  // namespace

TEST_CASE("A past makes workloads with history before anything live has come") {
  MemoryStore disk;
  const auto engine = Open(disk);
  const auto past = Build(engine->engine, Traffic(1, 600), kT0 + kDayMs);
  CHECK(past->MemoryBytes() > 0);
  CHECK(engine->State().empty());  // apart until it is merged
  const PastOutcome outcome = Merge(*past);
  CHECK(outcome.containers > 5);
  CHECK_FALSE(outcome.overtaken);
  const auto state = engine->State();
  CHECK(SamplesIn(state) == outcome.minutes);
  engine->engine.Tick();
  CHECK(engine->engine.Current()->blocks.size() == 4);
  CHECK(engine->engine.PastCursor() == "done");
}

TEST_CASE("Back-fill beside live samples equals back-fill first and live afterwards") {
  const auto seed = GENERATE(range(1U, 7U));
  const int64_t live_from = kT0 + 2 * kDayMs;
  const Requests history = Traffic(seed, 700);  // may end before or after live_from
  const Requests live = Moved(Traffic(seed + 100, 300), live_from - kT0);
  MemoryStore first_disk;
  const auto first = Open(first_disk);
  first->clock.Set(FromUnixMs(live_from + kDayMs));
  CHECK_FALSE(Merge(*Build(first->engine, history, live_from)).overtaken);
  for (const auto& request : live) Write(first->engine, request);

  MemoryStore disk;
  const auto beside = Open(disk);
  beside->clock.Set(FromUnixMs(live_from + kDayMs));
  std::unique_ptr<Past> past;
  SECTION("opened before, merged in the middle") {
    past = Build(beside->engine, history, live_from);
    for (size_t i = 0; i < live.size(); ++i) {
      if (i == live.size() / 2) CHECK_FALSE(Merge(*past).overtaken);
      Write(beside->engine, live[i]);
    }
  }
  SECTION("opened and merged in the middle") {
    for (size_t i = 0; i < live.size(); ++i) {
      if (i == live.size() / 2) Merge(*Build(beside->engine, history, live_from));
      Write(beside->engine, live[i]);
    }
  }
  SECTION("at the same time") {
    std::thread sender([&] {
      for (const auto& request : live) {
        if (!TryWrite(beside->engine, request)) std::abort();
      }
    });
    past = Build(beside->engine, history, live_from);
    const auto outcome = past->Merge("done");
    sender.join();
    REQUIRE(outcome);
    CHECK_FALSE(outcome->overtaken);
  }
  CheckSameState(beside->State(), first->State());
}

TEST_CASE("Only what is before the first live sample of each container counts") {
  MemoryStore disk;
  const auto engine = Open(disk);
  const int64_t live_from = kT0 + 3'600'000;
  const auto at = [&](int64_t time_ms, double spent) {
    return std::vector<FeedSeries>{{PodOwner("a", "DaemonSet", "agent"), {{time_ms, 1}}},
                                   {Cpu("a"), {{time_ms, spent}}},
                                   {Memory("a"), {{time_ms, 1e8}}},
                                   {PodOwner("b", "DaemonSet", "other"), {{time_ms, 1}}},
                                   {Cpu("b"), {{time_ms, spent}}}};
  };
  Requests history;
  for (int minute = 0; minute < 120; ++minute)
    history.push_back(at(kT0 + minute * 60'000LL, minute));
  // "agent" is live from the middle of the history, "other" is not.
  engine->clock.Set(FromUnixMs(live_from + kDayMs));
  for (int minute = 0; minute < 10; ++minute) {
    auto request = at(live_from + minute * 60'000LL, minute);
    request.resize(3);
    Write(engine->engine, request);
  }
  const std::vector<NamespaceName> shop = {{"", "shop"}};
  const auto outcome = Merge(*Build(engine->engine, history, kT0 + kDayMs, shop));
  CHECK_FALSE(outcome.overtaken);
  uint64_t agent = 0;
  uint64_t other = 0;
  for (const std::string& line : engine->State()) {
    const json::object object = json::parse(line).as_object();
    if (!object.contains("resource") || object.at("resource") != "cpu") continue;
    (object.at("workload") == "agent" ? agent : other) = object.at("samples").to_number<uint64_t>();
  }
  CHECK(agent == 60 + 9);
  CHECK(other == 119);
  SECTION("a second time adds nothing") {
    const auto before = SamplesIn(engine->State());
    CHECK(Merge(*Build(engine->engine, history, kT0 + kDayMs, shop)).minutes == 0);
    CHECK(SamplesIn(engine->State()) == before);
  }
  SECTION("what is earlier still can be put before it") {
    const Requests earlier = Moved(history, -2 * kDayMs);
    const auto before = SamplesIn(engine->State());
    const auto added = Merge(*Build(engine->engine, earlier, kT0, shop));
    CHECK(added.minutes == 119 + 120 + 119);
    CHECK(SamplesIn(engine->State()) == before + added.minutes);
  }
}

TEST_CASE("Live samples that overtake a past leave it unmerged, and it is built again") {
  MemoryStore disk;
  const auto engine = Open(disk);
  const Requests history = Traffic(2, 300);
  const auto past = Build(engine->engine, history, kT0 + 10 * kDayMs);
  engine->clock.Set(FromUnixMs(kT0 + 10 * kDayMs));
  const Requests live = Traffic(2, 400);
  REQUIRE(live.size() > 100);
  for (size_t i = 40; i < live.size(); ++i) Write(engine->engine, live[i]);
  const auto before = engine->State();
  CHECK(Merge(*past, "first").overtaken);
  CHECK(engine->State() == before);
  CHECK(engine->engine.PastCursor().empty());
  const auto outcome = Merge(*Build(engine->engine, history, kT0 + 10 * kDayMs), "second");
  CHECK_FALSE(outcome.overtaken);
  CHECK(outcome.minutes > 0);
  CHECK(SamplesIn(engine->State()) == SamplesIn(before) + outcome.minutes);
}

TEST_CASE("A live sample from before the end of a merged past does not count twice") {
  MemoryStore disk;
  const auto engine = Open(disk);
  const Requests history = Traffic(4, 300);
  engine->clock.Set(FromUnixMs(kT0 + kDayMs));
  Merge(*Build(engine->engine, history, kT0 + kDayMs));
  const auto before = SamplesIn(engine->State());
  for (const auto& request : history) Write(engine->engine, request);
  CHECK(SamplesIn(engine->State()) <=
        before + 10 * 2);  // the last minutes, which the past left open
  CHECK(engine->counters.usage_minutes_before_past.load() > 100);
}

TEST_CASE("Merge and cursor are both there after a kill, or neither") {
  auto disk = std::make_unique<MemoryStore>();
  auto engine = Open(*disk);
  const auto past = Build(engine->engine, Traffic(6, 300), kT0 + kDayMs);
  const auto before = disk->Copy();
  disk->refuse_appends = true;
  REQUIRE_FALSE(past->Merge("one"));
  CHECK(engine->State().empty());
  CHECK(engine->engine.PastCursor().empty());
  disk->refuse_appends = false;
  Merge(*past, "one");
  const auto merged = engine->State();
  const bool with_checkpoint = GENERATE(false, true);
  if (with_checkpoint) REQUIRE(engine->engine.Checkpoint());
  CHECK(Open(*before)->State().empty());
  CHECK(Open(*before)->engine.PastCursor().empty());
  const auto after = disk->Copy();
  CHECK(Open(*after)->State() == merged);
  CHECK(Open(*after)->engine.PastCursor() == "one");
  REQUIRE(engine->engine.SetPastCursor("two"));
  CHECK(Open(*disk)->engine.PastCursor() == "two");
}

namespace {

constexpr double kRequested = 6e8;

/// A scrape of both exporters: a container that uses 100 MB and was killed so many times, the last
/// time at `killed_ms`.
std::vector<FeedSeries> ScrapeOfKilled(int64_t at, int kills, int64_t killed_ms) {
  const auto told = [&](const std::string& name, double value, LabelMap more = {}) {
    more.insert({{"namespace", "shop"}, {"pod", "db-0"}, {"uid", "u"}, {"container", "app"}});
    return FeedSeries{Named("kube_pod_container_" + name, std::move(more)), {{at, value}}};
  };
  std::vector<FeedSeries> all = {
      {PodOwner("db-0", "StatefulSet", "db"), {{at, 1}}},
      {Cpu("db-0"), {{at, static_cast<double>(at % kDayMs) / 1e4}}},
      {Memory("db-0"), {{at, 1e8}}},
      told("resource_requests", kRequested, {{"resource", "memory"}, {"unit", "byte"}}),
      told("status_restarts_total", kills)};
  if (kills == 0) return all;
  all.push_back(told("status_last_terminated_reason", 1, {{"reason", "OOMKilled"}}));
  all.push_back(told("status_last_terminated_timestamp", static_cast<double>(killed_ms) / 1000));
  return all;
}

/// Two hours, with a kill in minutes 30 and 90.
Requests HistoryWithKills() {
  Requests history;
  for (int minute = 0; minute < 120; ++minute) {
    const int kills = minute < 30 ? 0 : minute < 90 ? 1 : 2;
    const int64_t killed_ms = kT0 + (kills == 1 ? 30 : 90) * 60'000LL - 5'000;
    history.push_back(ScrapeOfKilled(kT0 + minute * 60'000LL, kills, killed_ms));
  }
  return history;
}

const std::vector<NamespaceName> kShop = {{"", "shop"}};

ResourceAdvice MemoryOfDb(engine::Engine& engine) {
  engine.Tick();
  for (const auto& block : engine.Current()->blocks) {
    for (const WorkloadAdvice& workload : block->workloads) {
      if (workload.id.workload != "db") continue;
      for (const ResourceAdvice& advice : workload.containers.at(0).resources) {
        if (advice.resource == Resource::kMemory) return advice;
      }
    }
  }
  FAIL("there is no advice for db");
  return {};
}

double NeededAfterKill() { return kRequested * 1.2; }

}  // namespace

TEST_CASE("Kills of the past ask for as much as live ones, each once") {
  const Requests history = HistoryWithKills();
  MemoryStore live_disk;
  const auto live = Open(live_disk);
  live->clock.Set(FromUnixMs(kT0 + kDayMs));
  for (const auto& request : history) Write(live->engine, request);
  MemoryStore disk;
  const auto engine = Open(disk);
  engine->clock.Set(FromUnixMs(kT0 + kDayMs));
  REQUIRE_FALSE(Merge(*Build(engine->engine, history, kT0 + kDayMs, kShop)).overtaken);
  const ResourceAdvice past = MemoryOfDb(engine->engine);
  const ResourceAdvice same = MemoryOfDb(live->engine);
  CHECK(past.kills == 2);
  CHECK(same.kills == 2);
  CHECK(past.recommended_request == same.recommended_request);
  CHECK(past.model_request == same.model_request);
  CHECK(past.model_request >= NeededAfterKill());
  SECTION("and are there after a restart") {
    CHECK(MemoryOfDb(Open(disk)->engine).recommended_request == past.recommended_request);
  }
  SECTION("the same told live afterwards adds nothing") {
    for (const auto& request : history) Write(engine->engine, request);
    CHECK(MemoryOfDb(engine->engine).kills == 2);
    CHECK(engine->counters.oom_kills == 0);
    CHECK(engine->counters.oom_kills_repeated == 2);
  }
}

TEST_CASE("Kills from the first live minute on are the live stream's alone") {
  const Requests history = HistoryWithKills();
  MemoryStore disk;
  const auto engine = Open(disk);
  engine->clock.Set(FromUnixMs(kT0 + kDayMs));
  for (size_t minute = 60; minute < history.size(); ++minute) {
    Write(engine->engine, history[minute]);
  }
  CHECK(MemoryOfDb(engine->engine).kills == 1);
  REQUIRE_FALSE(Merge(*Build(engine->engine, history, kT0 + kDayMs, kShop)).overtaken);
  CHECK(MemoryOfDb(engine->engine).kills == 2);
}

TEST_CASE("A container of whose past nothing but kills is known has them") {
  Requests history = HistoryWithKills();
  for (auto& request : history) request.erase(request.begin() + 1, request.begin() + 3);
  MemoryStore disk;
  const auto engine = Open(disk);
  engine->clock.Set(FromUnixMs(kT0 + kDayMs));
  const auto outcome = Merge(*Build(engine->engine, history, kT0 + kDayMs, kShop));
  CHECK(outcome.containers == 1);
  CHECK(MemoryOfDb(engine->engine).kills == 2);
  CHECK(MemoryOfDb(engine->engine).model_request >= NeededAfterKill());
}

TEST_CASE("Usage of the past weighs by the request that was in force") {
  // Half of the time 1 core with a request of 1, half of the time 0.1 with one of 10.
  Requests history;
  double spent = 0;
  for (int minute = 0; minute < 600; ++minute) {
    const int64_t at = kT0 + minute * 60'000LL;
    const bool late = minute >= 300;
    spent += 60 * (late ? 0.1 : 1);
    history.push_back({{PodOwner("db-0", "StatefulSet", "db"), {{at, 1}}},
                       {Request("db-0", "cpu"), {{at, late ? 10.0 : 1.0}}},
                       {Cpu("db-0"), {{at, spent}}}});
  }
  const auto median = [&](WeightRule weight) {
    MemoryStore disk;
    engine::Options options;
    options.profiles = EveryRule([&](ResourceRule& rule) {
      rule.weight = weight;
      rule.percentile = 0.6;
    });
    const auto engine = Open(disk, options);
    engine->clock.Set(FromUnixMs(kT0 + kDayMs));
    Merge(*Build(engine->engine, history, kT0 + kDayMs, kShop));
    engine->engine.Tick();
    return engine->engine.Current()
        ->blocks.at(0)
        ->workloads.at(0)
        .containers.at(0)
        .resources.at(0)
        .model_request.value_or(-1);
  };
  CHECK(median(WeightRule::kByRequest) < 0.2);
  CHECK(median(WeightRule::kConstant) > 0.9);
}

TEST_CASE("What a past asks for depends on what the profiles need") {
  const auto asked = [](ProfileSetPtr profiles) {
    MemoryStore disk;
    engine::Options options;
    options.profiles = std::move(profiles);
    std::vector<std::string> all;
    for (const PastMetric& metric : Open(disk, options)->engine.PastMetrics()) {
      all.push_back(metric.metric + "{" + metric.matchers + "}" +
                    (metric.only_where_killed ? " where killed" : ""));
      if (metric.kind != PastKind::kOwner && metric.kind != PastKind::kUsage) {
        CHECK(metric.is_optional);
      }
    }
    return all;
  };
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  const std::string requests = "kube_pod_container_resource_requests";
  const auto plain = asked(std::make_shared<const ProfileSet>());
  CHECK(has(plain, requests + R"({resource="memory"} where killed)"));
  CHECK(has(plain, R"(kube_pod_container_status_last_terminated_reason{reason="OOMKilled"})"
                   " where killed"));
  CHECK(has(plain, "kube_pod_container_status_restarts_total{} where killed"));
  CHECK(has(plain, "kube_pod_container_status_last_terminated_timestamp{} where killed"));
  CHECK(has(plain, "container_oom_events_total{} where killed"));
  CHECK_FALSE(has(plain, requests + R"({resource="cpu"})"));
  CHECK_FALSE(has(plain, "kube_pod_labels{}"));

  const auto oversell = asked(OneProfile(Preset::kOversell, [](Profile&) {}));
  CHECK(has(oversell, requests + R"({resource="cpu"})"));
  CHECK(has(asked(OneProfile(Preset::kVpa, [](Profile& profile) { profile.strict = true; })),
            "kube_pod_labels{}"));
  Profile by_label = PresetProfile(Preset::kTidemark);
  by_label.selector = *Selector::Parse(R"({label_team="pay"})");
  CHECK(has(asked(std::make_shared<const ProfileSet>(std::vector{by_label},
                                                     PresetProfile(Preset::kTidemark))),
            "kube_pod_labels{}"));
}

TEST_CASE("What holds now is all that the live stream carries, but kills") {
  MemoryStore disk;
  const auto engine = Open(disk);
  std::map<std::string, PastMetric> found;
  for (const PastMetric& metric : engine->engine.PresentMetrics()) found[metric.metric] = metric;
  CHECK(found.at("kube_pod_owner").kind == PastKind::kOwner);
  CHECK(found.at("container_memory_working_set_bytes").kind == PastKind::kUsage);
  CHECK(found.at("kube_pod_container_resource_requests").kind == PastKind::kRequest);
  CHECK(found.at("kube_pod_container_resource_limits").kind == PastKind::kPresent);
  CHECK(found.at("kube_deployment_spec_replicas").kind == PastKind::kPresent);
  CHECK(found.at("kube_pod_status_phase").kind == PastKind::kPresent);
  CHECK(found.at("kube_horizontalpodautoscaler_info").kind == PastKind::kAutoscaler);
  CHECK(found.at("kube_horizontalpodautoscaler_spec_target_metric").kind ==
        PastKind::kAutoscalerTarget);
  CHECK(found.at("kube_node_status_allocatable").namespace_label.empty());
  CHECK(found.at("kube_pod_status_ready").matchers == R"(condition="true")");
  CHECK_FALSE(found.contains("kube_pod_container_status_restarts_total"));
  CHECK_FALSE(found.contains("container_oom_events_total"));
  CHECK_FALSE(found.contains("kube_pod_labels"));  // no profile asks for them
}

TEST_CASE("The metrics of a past are usage and owners, with their labels and selectors") {
  MemoryStore disk;
  const auto engine = Open(disk);
  bool cpu = false;
  bool owner = false;
  for (const PastMetric& metric : engine->engine.PastMetrics()) {
    if (metric.metric == "container_cpu_usage_seconds_total") {
      cpu = true;
      CHECK(metric.is_counter);
      CHECK(metric.kind == PastKind::kUsage);
      CHECK_FALSE(metric.is_optional);
      CHECK(metric.namespace_label == "namespace");
      CHECK(metric.pod_label == "pod");
      CHECK(metric.container_label == "container");
    }
    if (metric.metric == "kube_pod_owner") {
      owner = true;
      CHECK(metric.kind == PastKind::kOwner);
    }
    CHECK(metric.metric != "kube_pod_container_resource_limits");
  }
  CHECK(cpu);
  CHECK(owner);
}
