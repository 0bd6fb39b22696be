// What holds now, handed on as the live stream would say it.

#include "backfill/present.h"

#include <map>

#include "model/label.h"
#include "tests/backfill/fake_past.h"
#include "tests/backfill/fake_prometheus.h"
#include "tests/catch.h"

namespace tidemark::backfill {
namespace {

constexpr int64_t kNow = 1'700'000'040'000;

/// Keeps what it is given, by batch.
class KeepingSink final : public SampleSink {
 public:
  struct Series {
    std::string labels;
    std::vector<Sample> samples;
  };

  std::unique_ptr<WriteBatch> Begin() override { return std::make_unique<Batch>(*this); }

  std::vector<std::vector<Series>> batches;
  bool full = false;

 private:
  class Batch final : public WriteBatch {
   public:
    explicit Batch(KeepingSink& sink) : sink_(sink) {}
    void Add(const IncomingSeries& series) override {
      added_.push_back(
          {FormatLabels(series.labels), {series.samples.begin(), series.samples.end()}});
    }
    Result<WriteVerdict> Commit() override {
      if (sink_.full) return Fail(ErrorCode::kUnavailable, "the queue is full");
      sink_.batches.push_back(std::move(added_));
      return WriteVerdict{};
    }

   private:
    KeepingSink& sink_;
    std::vector<Series> added_;
  };
};

PastMetric Metric(const std::string& name, PastKind kind) {
  PastMetric metric;
  metric.metric = name;
  metric.kind = kind;
  metric.cluster_label = "cluster";
  metric.namespace_label = "namespace";
  return metric;
}

FakeSeries Series(const std::string& name, std::map<std::string, std::string> labels) {
  FakeSeries out;
  out.labels = std::move(labels);
  out.labels["__name__"] = name;
  out.value = [](int64_t) { return 3.0; };
  return out;
}

struct Present {
  FakePrometheus server;
  ManualClock clock{FromUnixMs(kNow)};
  BackfillCounters counters;
  Progress progress{clock, counters};
  Options options;
  KeepingSink sink;
  std::vector<std::pair<PastKind, std::string>> aside;
  std::vector<FoundNamespace> namespaces = {{.name = {"", "bank"}, .query_cluster = ""},
                                            {.name = {"", "shop"}, .query_cluster = ""}};

  std::optional<QueryFault> Fetch(const std::vector<PastMetric>& metrics) {
    options.http.url = server.url();
    options.tuning.retry_first = std::chrono::milliseconds(1);
    options.tuning.unreachable_for = std::chrono::milliseconds(0);
    auto api = PrometheusApi::Open(options.http, {});
    REQUIRE(api);
    Querier querier(*std::move(api), options.tuning, counters, progress, {});
    return FetchPresent(
        querier, metrics, namespaces, kNow, options, sink,
        [this](PastKind kind, const AnswerSeries& series) {
          for (const auto& [name, value] : series.labels) {
            if (name == "horizontalpodautoscaler") aside.emplace_back(kind, value);
          }
        },
        [](size_t, size_t) {});
  }
  std::vector<std::string> Labels() const {
    std::vector<std::string> all;
    for (const auto& batch : sink.batches) {
      for (const KeepingSink::Series& one : batch) all.push_back(one.labels);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("the newest samples come in one batch a unit, owners first", "[backfill][present]") {
  Present present;
  auto gone = ContainerSeries("shop", "gone");
  for (FakeSeries& one : gone) one.to_ms = kNow - 1;
  present.server.series = gone;
  for (FakeSeries& one : ContainerSeries("shop", "web-1")) present.server.series.push_back(one);
  for (FakeSeries& one : ContainerSeries("other", "x")) present.server.series.push_back(one);
  REQUIRE_FALSE(present.Fetch(ClusterMetrics()));
  REQUIRE(present.sink.batches.size() == 1);
  CHECK(
      present.Labels() ==
      std::vector<std::string>{
          R"(kube_pod_owner{namespace="shop", owner_kind="ReplicaSet", owner_name="web-1-rs", pod="web-1"})",
          R"(container_cpu_usage_seconds_total{container="app", cpu="total", namespace="shop", pod="web-1"})",
          R"(container_memory_working_set_bytes{container="app", namespace="shop", pod="web-1"})"});
  for (const KeepingSink::Series& one : present.sink.batches[0]) {
    REQUIRE(one.samples.size() == 1);
    CHECK(one.samples[0].timestamp_ms == kNow);
  }
}

TEST_CASE("labels of what holds now are those of the live stream", "[backfill][present]") {
  Present present;
  present.options.external_labels = {{"cluster", "eu"}};
  present.options.drop_labels = {"replica"};
  present.server.series = {
      Series("a", {{"namespace", "monitoring"}, {"exported_namespace", "shop"}, {"replica", "1"}}),
      Series("a", {{"namespace", "bank"}}), Series("a", {{"namespace", "monitoring"}})};
  REQUIRE_FALSE(present.Fetch({Metric("a", PastKind::kPresent)}));
  CHECK(present.Labels() ==
        std::vector<std::string>{
            R"(a{cluster="eu", exported_namespace="shop", namespace="monitoring"})",
            R"(a{cluster="eu", namespace="bank"})"});
}

TEST_CASE("what is of no namespace is asked once, autoscalers stand aside", "[backfill][present]") {
  Present present;
  present.options.tuning.unit_namespaces = 1;  // two units
  PastMetric node = Metric("node", PastKind::kPresent);
  node.namespace_label.clear();
  present.server.series = {Series("node", {{"node", "n1"}}),
                           Series("hpa", {{"namespace", "shop"}, {"horizontalpodautoscaler", "w"}}),
                           Series("a", {{"namespace", "shop"}})};
  REQUIRE_FALSE(present.Fetch({Metric("hpa", PastKind::kAutoscaler), node,
                               Metric("a", PastKind::kPresent), Metric("b", PastKind::kPresent)}));
  CHECK(present.Labels() ==
        std::vector<std::string>{R"(node{node="n1"})", R"(a{namespace="shop"})"});
  CHECK(present.sink.batches.size() == 2);
  CHECK(present.aside ==
        std::vector<std::pair<PastKind, std::string>>{{PastKind::kAutoscaler, "w"}});
}

TEST_CASE("an answer that is too large is asked for in parts", "[backfill][present]") {
  Present present;
  present.server.series = {Series("a", {{"namespace", "shop"}}),
                           Series("a", {{"namespace", "bank"}})};
  present.server.max_samples = 1;
  REQUIRE_FALSE(present.Fetch({Metric("a", PastKind::kPresent)}));
  CHECK(present.Labels().size() == 2);
  present.server.series.push_back(Series("a", {{"namespace", "shop"}, {"x", "y"}}));
  const auto fault = present.Fetch({Metric("a", PastKind::kPresent)});
  REQUIRE(fault);
  CHECK(fault->kind == QueryFaultKind::kTooLarge);
}

TEST_CASE("a query or a sink that fails ends it", "[backfill][present]") {
  Present present;
  present.server.series = {Series("a", {{"namespace", "shop"}})};
  present.sink.full = true;
  const auto full = present.Fetch({Metric("a", PastKind::kPresent)});
  REQUIRE(full);
  CHECK(full->message == "the queue is full");
  present.server.instead = [](const client::FakeRequest&) {
    return PrometheusError(400, "bad_data", "no such function");
  };
  const auto refused = present.Fetch({Metric("a", PastKind::kPresent)});
  REQUIRE(refused);
  CHECK(refused->kind == QueryFaultKind::kRefused);
}

}  // namespace tidemark::backfill
