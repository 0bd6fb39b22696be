// What a namespace hands on is the same whether it was saved and restored on the way or not: also
// kills of which half was told, and sums of pods of which half the containers have passed.
#include <algorithm>
#include <random>

#include "tests/seed.h"
#include "tests/workloads/recorded_namespace.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

std::string Text(const std::optional<double>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string TextOf(const workloads::DemandFacts& facts) {
  return " replicas " + Text(facts.replicas) + " request " + Text(facts.request) + " limit " +
         Text(facts.limit) + " original " + Text(facts.original_request) + " bounds " +
         Text(facts.min_replicas) + " " + Text(facts.max_replicas) + " ready " +
         (facts.ready_pods ? std::to_string(*facts.ready_pods) : "-") + " startup " +
         (facts.startup_ms ? std::to_string(*facts.startup_ms) : "-");
}

/// Everything handed on since the last call, without the numbers that a restart changes.
std::string Given(RecordedNamespace& one) {
  std::string text;
  for (const auto& usage : one.sink.usage) {
    text += usage.container + " " + std::to_string(static_cast<int>(usage.resource)) + " " +
            std::to_string(usage.minute.start_ms) + " " + std::to_string(usage.minute.usage) +
            " of " + Text(usage.request) + " set " +
            std::to_string(one.sink.label_sets[usage.instance]) + "\n";
  }
  for (const auto& told : one.sink.demand) {
    text += told.container + " " + std::to_string(told.minute.start_ms) + " demand " +
            std::to_string(told.minute.demand) + " of " + std::to_string(told.minute.pods) +
            " lacks " + std::to_string(told.minute.missing) +
            (told.minute.is_censored ? " censored" : "") + TextOf(told.facts) + "\n";
  }
  for (const auto& told : one.sink.kills) {
    text += told.container + " killed " + std::to_string(told.kill.time_ms) + " of " +
            Text(told.kill.requested_bytes) + "\n";
  }
  for (const auto& [from, into] : one.sink.merged) text += from + " into " + into + "\n";
  for (const auto& [name, labels] : one.sink.labels) text += name + " " + labels + "\n";
  one.sink.usage.clear();
  one.sink.kills.clear();
  one.sink.demand.clear();
  one.sink.merged.clear();
  return text;
}

/// Says where two long texts differ.
bool Same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const size_t from = at > 100 ? at - 100 : 0;
  UNSCOPED_INFO("…" << a.substr(from, 200) << "…, against …" << b.substr(from, 200) << "…");
  return false;
}

std::string Shown(RecordedNamespace& one) {
  std::string text;
  for (const auto& view : one.state->View(one.state->event_time_ms())) {
    text += view.id->workload + " " + std::to_string(view.containers_in_pod) +
            (view.pod_sum ? " summed" : "") + (view.demand ? " wished" : "") + " bounds " +
            Text(view.min_replicas) + " " + Text(view.max_replicas) + " ready " +
            (view.ready_pods ? std::to_string(*view.ready_pods) : "-") + " startup " +
            (view.startup_ms ? std::to_string(*view.startup_ms) : "-") + "\n";
    for (const auto& container : view.containers) {
      text += "  " + std::string(container.name);
      for (const Resource resource : kAllResources) {
        text += " " + Text(container.request.Get(resource)) + "/" +
                Text(container.original_request.Get(resource));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a restored namespace hands on what the saved one would have", "[workloads][state]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  RandomTraffic traffic(seed);
  RecordedNamespace a;
  RecordedNamespace b;
  a.sink.sums_by_pod = b.sink.sums_by_pod = true;
  a.sink.wish = b.sink.wish = workloads::DemandWish{Resource::kCpu, 120'000};
  size_t sums = 0;
  size_t demands = 0;
  bool originals = false;
  size_t facts = 0;  // minutes of which all is told
  size_t censored = 0;
  for (int i = 0; i < 2500; ++i) {
    INFO("batch " << i);
    const TrafficBatch batch = traffic.Next();
    a.PutBatch(batch);
    b.PutBatch(batch);
    for (const auto& usage : a.sink.usage) sums += usage.container.ends_with("//") ? 1 : 0;
    demands += a.sink.demand.size();
    for (const auto& told : a.sink.demand) {
      const auto& of = told.facts;
      facts += of.replicas && of.request && of.min_replicas && of.max_replicas && of.ready_pods &&
               of.startup_ms;
      censored += told.minute.is_censored;
    }
    REQUIRE(Same(Given(a), Given(b)));
    if (i % 100 == 99 && random() % 2 == 0) {
      a.sink.wish->startup_ms += 1000;
      b.sink.wish = a.sink.wish;
      a.state->TellContainers();
      b.state->TellContainers();
    }
    if (random() % 5 == 0) {
      const std::string shown = Shown(a);
      REQUIRE(Same(shown, Shown(b)));
      originals = originals || shown.find("/2.0") != std::string::npos;
    }
    if (random() % 3 != 0) continue;
    REQUIRE(a.Saved() == b.Saved());
    b.Restart();
  }
  CHECK(sums > 1000);
  CHECK(demands > 500);
  CHECK(originals);
  CHECK(facts > 100);
  CHECK(censored > 10);
  CHECK(censored < demands);
  CHECK(a.counters.oom_kills > 10);
  CHECK(a.counters.oom_kills == b.counters.oom_kills);
  CHECK(a.counters.oom_kills_repeated == b.counters.oom_kills_repeated);
  CHECK(a.counters.restarts_without_kill == b.counters.restarts_without_kill);
  CHECK(a.counters.restarts_without_kill > 10);
  CHECK(a.counters.pod_labels_too_long > 0);
  CHECK(a.counters.original_requests_bad > 0);
}
