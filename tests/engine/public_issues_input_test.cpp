// Public issues about what comes in from Prometheus. The numbers of threads are those of
// github.com/kubernetes/autoscaler.
#include <mutex>

#include "backfill/fetch.h"
#include "cmd/config.h"
#include "model/log.h"
#include "tests/engine/issue_world.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

uint64_t Ignored(const WriteVerdict& verdict, IgnoreReason reason) {
  return verdict.ignored[static_cast<size_t>(reason)];
}

LabelMap Without(LabelMap labels, const std::string& name) {
  labels.erase(name);
  return labels;
}

LabelMap Renamed(LabelMap labels, const std::string& from, const std::string& to) {
  labels[to] = labels.at(from);
  labels.erase(from);
  return labels;
}

/// Lines of the log while it lives.
class LogLines {
 public:
  LogLines() {
    SetLogSink([this](std::string_view line) {
      const std::scoped_lock lock(mutex_);
      lines_.emplace_back(line);
    });
  }
  ~LogLines() { SetLogSink({}); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  size_t Count() {
    const std::scoped_lock lock(mutex_);
    return lines_.size();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace

TEST_CASE(
    "kubernetes/autoscaler#5031, #3478, #4385, #9228: series without a label are counted, the rest "
    "is taken",
    "[public-issue][input]") {
  World world(Vpa());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  OwnedBy(world, "old-0", "StatefulSet", "old");
  for (int i = 0; i <= 20; ++i) {
    const int64_t at = kT0 + i * 30'000LL;
    const WriteVerdict verdict = world.Put(
        {{Without(Memory("db-0"), "namespace"), {{at, 1e9}}},
         {Cpu("db-0"), {{at, i * 15.0}}},
         {Without(Memory("db-0"), "pod"), {{at, 1e9}}},
         {Without(Memory("db-0"), "container"), {{at, 1e9}}},
         {Memory("db-0"), {{at, 300 * kMi}}},
         // The names that old kubelets give.
         {Renamed(Renamed(Memory("old-0"), "pod", "pod_name"), "container", "container_name"),
          {{at, 500 * kMi}}}});
    REQUIRE(verdict.accepted == 3);
    REQUIRE(Ignored(verdict, IgnoreReason::kNoContainer) == 3);
    REQUIRE(verdict.TotalRejected() == 0);
  }
  CHECK(*world.Bytes("db").model_request < 1.06 * 300 * kMi);
  CHECK(*world.Cores("db").model_request >= 0.5);
  CHECK(*world.Bytes("old").model_request >= 500 * kMi);
}

TEST_CASE("kubernetes/autoscaler#9747: every query for the past names its metric",
          "[public-issue][input]") {
  const auto config = cmd::ParseConfig(
      "sources:\n"
      "  - metric: my_cpu_seconds_total\n"
      "    role: usage_counter\n"
      "    resource: cpu\n"
      "    selector: '{job=\"node\"}'\n"
      "    labels: {namespace: k8s_namespace, pod: k8s_pod, container: k8s_container}\n"
      "  - {metric: container_cpu_usage_seconds_total, role: none}\n",
      "tidemark.yml");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  World world({}, config->sources);
  const std::vector<backfill::FoundNamespace> of = {{{"", "shop"}, ""}};
  size_t mine = 0;
  for (const PastMetric& metric : world.engine().PastMetrics()) {
    const std::string query = backfill::UnitQuery(metric, of, kMinute);
    INFO(query);
    REQUIRE_FALSE(metric.metric.empty());
    CHECK(query.find(metric.metric + "{") != std::string::npos);
    CHECK(query.find(metric.namespace_label + "=\"shop\"") != std::string::npos);
    CHECK(metric.metric != "container_cpu_usage_seconds_total");
    if (metric.metric != "my_cpu_seconds_total") continue;
    ++mine;
    CHECK(query.find("job=\"node\"") != std::string::npos);
    CHECK(query.find("k8s_namespace=\"shop\"") != std::string::npos);
  }
  CHECK(mine == 1);
}

TEST_CASE(
    "kubernetes/autoscaler#3376, #2010, #6965, #5288, #7198: pause containers, unknown pods and "
    "duplicates are quiet",
    "[public-issue][input]") {
  World world(Vpa());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  LogLines log;
  for (int i = 0; i <= 200; ++i) {
    const int64_t at = kT0 + i * 30'000LL;
    const std::vector<FeedSeries> request = {{Memory("db-0", "POD"), {{at, 1e6}}},
                                             {Memory("db-0", ""), {{at, 9e9}}},
                                             {Memory("nobody-knows"), {{at, 9e9}}},
                                             {Memory("db-0"), {{at, 300 * kMi}}}};
    const WriteVerdict verdict = world.Put(request);
    REQUIRE(verdict.accepted == 2);
    REQUIRE(Ignored(verdict, IgnoreReason::kNoContainer) == 2);
    const WriteVerdict again = world.Put(request);
    REQUIRE(Ignored(again, IgnoreReason::kDuplicate) == 2);
    REQUIRE(again.TotalRejected() == 0);
  }
  CHECK(world.Names() == std::vector<std::string>{"statefulset/db"});
  CHECK(*world.Bytes("db").model_request < 1.06 * 300 * kMi);
  CHECK(world.Bytes("db").samples == 100);
  CHECK(log.Count() == 0);
}

TEST_CASE(
    "kubernetes/autoscaler#2543, #3438: what can come in has a bound, and what is known stays",
    "[public-issue][input]") {
  engine::Options options = With(Vpa());
  options.max_series = 100;
  World world(options);
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Container app(world, "db-0");
  app.Go(5, 0.5, 300 * kMi);
  uint64_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const WriteVerdict verdict = world.Put(Memory("flood-" + std::to_string(i)), app.now_ms(), 1e9);
    refused += verdict.rejected[static_cast<size_t>(RejectReason::kSeriesLimit)];
    REQUIRE(verdict.accepted + verdict.TotalRejected() == 1);
  }
  CHECK(world.counters().series_now == 100);
  CHECK(refused == 5000 - 97);
  const uint64_t samples = world.Bytes("db").samples;
  app.Go(20, 0.5, 600 * kMi);
  CHECK(world.Bytes("db").samples == samples + 20);
  CHECK(*world.Bytes("db").model_request >= 600 * kMi);
}
