// What is told of a container beside its usage comes with the minutes that it is about.
#include "workloads/container_signs.h"

#include <algorithm>
#include <string>

#include "tests/catch.h"
#include "tests/workloads/recorded_namespace.h"

namespace tidemark::testing {
namespace {

constexpr int64_t kBegin = RecordedNamespace::kBeginMs;
constexpr int64_t kMinute = workloads::kMinuteMs;

/// Five minutes of a container that uses half a core and 300 MB, scraped twice a minute.
void Scrape(RecordedNamespace& world, double throttled_ratio = 0, double cache_bytes = 0) {
  for (int i = 0; i <= 10; ++i) {
    const int64_t at = kBegin + i * kMinute / 2;
    const double periods = i * 300.0;
    world.Put(OfContainer("container_cpu_cfs_throttled_periods_total", "web-1"), at,
              periods * throttled_ratio);
    world.Put(OfContainer("container_cpu_cfs_periods_total", "web-1"), at, periods);
    world.Put(OfContainer("container_memory_cache", "web-1"), at, cache_bytes);
    world.Put(OfContainer("container_cpu_usage_seconds_total", "web-1"), at, 15.0 * i);
    world.Put(OfContainer("container_memory_working_set_bytes", "web-1"), at, 3e8);
    world.End();
  }
}

std::vector<workloads::MinuteContext> ContextsOf(const RecordedNamespace& world,
                                                 Resource resource) {
  std::vector<workloads::MinuteContext> contexts;
  for (const auto& usage : world.sink.usage) {
    if (usage.resource == resource) contexts.push_back(usage.context);
  }
  return contexts;
}

}  // namespace

TEST_CASE("minutes say how often the container was throttled", "[workloads][signs]") {
  RecordedNamespace world;
  Scrape(world, 0.4);
  const auto contexts = ContextsOf(world, Resource::kCpu);
  REQUIRE(contexts.size() >= 4);
  // The first minute has no increase of both counters before its first scrape is over.
  for (size_t i = 1; i < contexts.size(); ++i) {
    CHECK(contexts[i].throttled_ratio == Approx(0.4).margin(1e-9));
  }
  for (const auto& context : ContextsOf(world, Resource::kMemory)) {
    CHECK(context.throttled_ratio == 0);
  }
}

TEST_CASE("a first throttled period near the end of a minute does not make it a throttled one",
          "[workloads][signs]") {
  // Scraped once a second, as often as it can be; the order of the two series is nobody's business.
  for (const bool periods_first : {false, true}) {
    RecordedNamespace world;
    for (int i = 0; i <= 150; ++i) {
      const int64_t at = kBegin + i * 1000;
      const auto periods = [&] {
        world.Put(OfContainer("container_cpu_cfs_periods_total", "web-1"), at, i * 10.0);
      };
      if (periods_first) periods();
      // In half of the periods from the 56th second of the second minute on.
      world.Put(OfContainer("container_cpu_cfs_throttled_periods_total", "web-1"), at,
                std::max(0, i - 115) * 5.0);
      if (!periods_first) periods();
      world.Put(OfContainer("container_cpu_usage_seconds_total", "web-1"), at, 0.5 * i);
      world.End();
    }
    const auto contexts = ContextsOf(world, Resource::kCpu);
    REQUIRE(contexts.size() == 2);
    CHECK(contexts[0].throttled_ratio == 0);
    CHECK(contexts[1].throttled_ratio == Approx(25.0 / 600).epsilon(0.02));
  }
}

TEST_CASE("a container that is never throttled keeps no signs", "[workloads][signs]") {
  RecordedNamespace quiet;
  Scrape(quiet);
  for (const auto& context : ContextsOf(quiet, Resource::kCpu)) CHECK(context.throttled_ratio == 0);
  RecordedNamespace throttled;
  Scrape(throttled, 0.4);
  CHECK(quiet.Saved().size() + 30 < throttled.Saved().size());
}

TEST_CASE("page cache comes with memory only where it is asked for", "[workloads][signs]") {
  RecordedNamespace world;
  Scrape(world, 0, 1e8);
  for (const auto& context : ContextsOf(world, Resource::kMemory)) {
    CHECK(context.page_cache_bytes == 0);
  }
  RecordedNamespace asked;
  asked.sink.leaves_out_page_cache = true;
  Scrape(asked, 0, 1e8);
  const auto contexts = ContextsOf(asked, Resource::kMemory);
  REQUIRE(contexts.size() >= 4);
  for (const auto& context : contexts) CHECK(context.page_cache_bytes == 1e8);
  for (const auto& context : ContextsOf(asked, Resource::kCpu)) {
    CHECK(context.page_cache_bytes == 0);
  }
}

TEST_CASE("minutes say how old their pod is", "[workloads][signs]") {
  RecordedNamespace world;
  const LabelMap start = {
      {"__name__", "kube_pod_start_time"}, {"namespace", "shop"}, {"pod", "web-1"}};
  world.Send(start, kBegin, static_cast<double>(kBegin) / 1000 - 90);
  Scrape(world);
  const auto contexts = ContextsOf(world, Resource::kCpu);
  REQUIRE(contexts.size() >= 4);
  for (size_t i = 0; i < contexts.size(); ++i) {
    CHECK(contexts[i].pod_age_ms == 90'000 + static_cast<int64_t>(i + 1) * kMinute);
  }
}

TEST_CASE("a start in the future says nothing", "[workloads][signs]") {
  RecordedNamespace world;
  const LabelMap start = {
      {"__name__", "kube_pod_start_time"}, {"namespace", "shop"}, {"pod", "web-1"}};
  world.Send(start, kBegin, 1e12);
  Scrape(world);
  for (const auto& context : ContextsOf(world, Resource::kCpu)) CHECK(!context.pod_age_ms);
}

TEST_CASE("signs survive a restart", "[workloads][signs]") {
  RecordedNamespace world;
  world.sink.leaves_out_page_cache = true;
  const LabelMap start = {
      {"__name__", "kube_pod_start_time"}, {"namespace", "shop"}, {"pod", "web-1"}};
  world.Send(start, kBegin, static_cast<double>(kBegin) / 1000 - 90);
  Scrape(world, 0.4, 1e8);
  world.Restart();  // compares what is saved then
  world.sink.usage.clear();
  const int64_t at = kBegin + 6 * kMinute;
  world.Put(start, at - kMinute, static_cast<double>(kBegin) / 1000 - 90);
  world.Put(OfContainer("container_cpu_usage_seconds_total", "web-1"), at, 180);
  world.Put(OfContainer("container_memory_working_set_bytes", "web-1"), at, 3e8);
  world.End();
  const auto cpu = ContextsOf(world, Resource::kCpu);
  const auto memory = ContextsOf(world, Resource::kMemory);
  REQUIRE(!cpu.empty());
  REQUIRE(!memory.empty());
  CHECK(cpu.front().pod_age_ms);
  CHECK(memory.front().page_cache_bytes == 1e8);
}

TEST_CASE("the largest node is known while it is told of", "[workloads][signs]") {
  RecordedNamespace world;
  const auto node = [](const std::string& name, const std::string& resource) {
    return LabelMap{{"__name__", "kube_node_status_allocatable"},
                    {"namespace", "shop"},
                    {"node", name},
                    {"resource", resource}};
  };
  world.Put(node("small", "cpu"), kBegin, 4);
  world.Put(node("large", "cpu"), kBegin, 16);
  world.Put(node("large", "memory"), kBegin, 6.4e10);
  world.Put(node("large", "pods"), kBegin, 110);
  world.End();
  CHECK(world.state->LargestNode(kBegin)[0] == 16.0);
  CHECK(world.state->LargestNode(kBegin)[1] == 6.4e10);
  world.Restart();
  CHECK(world.state->LargestNode(kBegin)[0] == 16.0);
  world.Send(node("large", "cpu"), kBegin + kMinute, StaleMarker());
  CHECK(world.state->LargestNode(kBegin + kMinute)[0] == 4.0);
  CHECK(!world.state->LargestNode(kBegin + 10 * kMinute)[0]);
}

TEST_CASE("shares of throttled periods are kept for three minutes", "[workloads][signs]") {
  workloads::ThrottledMinutes minutes;
  minutes.AddPeriods(kBegin + 10, 100);
  minutes.AddThrottled(kBegin + 20, 25);
  minutes.AddPeriods(kBegin + kMinute, 100);  // the end of the minute belongs to it
  CHECK(minutes.Ratio(kBegin) == 0.125);
  CHECK(minutes.Ratio(kBegin + kMinute) == 0);
  minutes.AddThrottled(kBegin + kMinute + 10, 900);
  minutes.AddPeriods(kBegin + kMinute + 10, 600);
  CHECK(minutes.Ratio(kBegin + kMinute) == 1);  // never above
  for (int i = 2; i < 4; ++i) minutes.AddPeriods(kBegin + i * kMinute + 10, 600);
  CHECK(minutes.Ratio(kBegin) == 0);
  minutes.AddThrottled(kBegin + 30, 5);  // too old: nothing, and nothing of another minute
  CHECK(minutes.Ratio(kBegin + 3 * kMinute) == 0);

  std::string bytes;
  ByteWriter out(bytes);
  minutes.Save(out, kBegin);
  ByteReader in(bytes);
  workloads::ThrottledMinutes restored;
  REQUIRE(restored.Restore(in, kBegin));
  CHECK(restored == minutes);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader less(std::string_view(bytes).substr(0, cut));
    workloads::ThrottledMinutes none;
    CHECK_FALSE(none.Restore(less, kBegin));
  }
}

}  // namespace tidemark::testing
