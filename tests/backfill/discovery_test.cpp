// What is found of metrics, labels and namespaces, and how it is told when it does not fit.

#include "backfill/discovery.h"

#include "tests/backfill/fake_past.h"
#include "tests/backfill/fake_prometheus.h"
#include "tests/catch.h"

namespace tidemark::backfill {
namespace {

constexpr int64_t kHour = 60 * kMinuteMs;
constexpr int64_t kEnd = 1'700'000'040'000;

struct Search {
  FakePrometheus server;
  ManualClock clock{FromUnixMs(kEnd)};
  BackfillCounters counters;
  Progress progress{clock, counters};
  Options options;
  TimeGrid grid{.start_ms = kEnd - 48 * kHour, .end_ms = kEnd, .step_ms = kMinuteMs};

  void Have(std::vector<FakeSeries> more) {
    for (FakeSeries& one : more) server.series.push_back(std::move(one));
  }
  tl::expected<Found, QueryFault> Run(const std::vector<PastMetric>& metrics) {
    options.http.url = server.url();
    options.tuning.retry_first = std::chrono::milliseconds(1);
    options.tuning.unreachable_for = std::chrono::milliseconds(0);
    auto api = PrometheusApi::Open(options.http, {});
    REQUIRE(api);
    Querier querier(*std::move(api), options.tuning, counters, progress, {});
    return Discover(querier, metrics, grid, options);
  }
  Found Good(const std::vector<PastMetric>& metrics = ClusterMetrics()) {
    auto found = Run(metrics);
    INFO((found ? "" : found.error().message));
    REQUIRE(found);
    return *std::move(found);
  }
};

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> Names(const Found& found) {
  std::vector<std::string> names;
  for (const FoundNamespace& each : found.namespaces) {
    names.push_back(each.name.cluster + "/" + each.name.name_space);
  }
  return names;
}

/// With other names of labels.
std::vector<FakeSeries> Renamed(std::vector<FakeSeries> series,
                                const std::map<std::string, std::string>& names) {
  for (FakeSeries& one : series) {
    for (const auto& [from, to] : names) {
      if (auto node = one.labels.extract(from)) {
        node.key() = to;
        one.labels.insert(std::move(node));
      }
    }
  }
  return series;
}

}  // namespace

TEST_CASE("namespaces of the whole range are found, sorted, with their sizes",
          "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("shop", "web-1"));
  search.Have(ContainerSeries("shop", "web-2"));
  search.Have(ContainerSeries("a.b", "x"));
  auto gone = ContainerSeries("gone", "x");
  for (FakeSeries& one : gone) one.to_ms = search.grid.start_ms + kHour;
  search.Have(std::move(gone));
  auto outside = ContainerSeries("before", "x");
  for (FakeSeries& one : outside) one.to_ms = search.grid.start_ms - kHour;
  search.Have(std::move(outside));
  // Between two probes: only its label values tell.
  auto brief = ContainerSeries("brief", "x");
  for (FakeSeries& one : brief) {
    one.from_ms = search.grid.start_ms + kHour;
    one.to_ms = search.grid.start_ms + 2 * kHour;
  }
  search.Have(std::move(brief));

  const Found found = search.Good();
  CHECK(Names(found) == std::vector<std::string>{"/a.b", "/brief", "/gone", "/shop"});
  CHECK(found.namespaces.back().series == 2);
  REQUIRE(found.metrics.size() == 3);
  CHECK(found.metrics[0].kind == PastKind::kOwner);
  CHECK(found.problems.empty());
  CHECK(found.notes.empty());

  search.server.no_label_values = true;
  CHECK(Names(search.Good()) == std::vector<std::string>{"/a.b", "/gone", "/shop"});
}

TEST_CASE("clusters come from the series, else from the external labels", "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("shop", "a", "us"));
  search.Have(ContainerSeries("shop", "b"));
  search.options.external_labels = {{"cluster", "eu"}};
  const Found found = search.Good();
  CHECK(Names(found) == std::vector<std::string>{"eu/shop", "us/shop"});
  CHECK(found.namespaces[0].query_cluster.empty());
  CHECK(found.namespaces[1].query_cluster == "us");
}

TEST_CASE("missing metrics are named", "[backfill][discovery]") {
  Search search;
  auto series = ContainerSeries("shop", "a");
  std::erase_if(series, [](const FakeSeries& one) {
    return one.labels.at("__name__") != "container_cpu_usage_seconds_total";
  });
  search.Have(series);
  std::vector<PastMetric> metrics = ClusterMetrics();
  metrics.push_back(metrics[0]);
  metrics.back().metric = "DCGM_FI_DEV_GPU_UTIL";
  metrics.back().is_optional = true;
  metrics.push_back(metrics[2]);
  metrics.back().metric = "kube_job_owner";  // there may be no Jobs
  metrics.back().pod_label.clear();
  const Found found = search.Good(metrics);
  REQUIRE(found.problems.size() == 2);
  CHECK(Has(found.problems[0], "missing metric: container_memory_working_set_bytes{}"));
  CHECK(Has(found.problems[1], "kube_pod_owner"));
  REQUIRE(found.notes.size() == 2);
  CHECK(Has(found.notes[0], "DCGM_FI_DEV_GPU_UTIL"));
  CHECK(Has(found.notes[1], "kube_job_owner"));

  search.server.series.clear();
  const auto none = search.Run(metrics);
  REQUIRE_FALSE(none);
  CHECK(Has(none.error().message, "missing metrics: container_cpu_usage_seconds_total{}"));
  CHECK(Has(none.error().message, "container_memory_working_set_bytes{}"));
  CHECK_FALSE(Has(none.error().message, "DCGM"));
}

TEST_CASE("kills are looked for only in namespaces that had some", "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("calm", "a"));
  search.Have(KilledSeries("calm", "a", false));
  search.Have(ContainerSeries("shop", "a"));
  const auto metrics = ClusterAndKillMetrics();
  const auto kinds = [](const Found& found) {
    std::vector<PastKind> all;
    for (const PastMetric& metric : found.metrics) all.push_back(metric.kind);
    return all;
  };
  Found found = search.Good(metrics);
  CHECK(kinds(found) == std::vector{PastKind::kOwner, PastKind::kUsage, PastKind::kUsage});
  CHECK(found.problems.empty());
  CHECK(found.notes.empty());

  SECTION("as kube-state-metrics tells them") {
    search.Have(KilledSeries("shop", "a", true));
    found = search.Good(metrics);
    CHECK(kinds(found) == std::vector{PastKind::kOwner, PastKind::kRequest, PastKind::kUsage,
                                      PastKind::kUsage, PastKind::kKillReason, PastKind::kRestarts,
                                      PastKind::kKillTime});
    REQUIRE(Names(found) == std::vector<std::string>{"/calm", "/shop"});
    CHECK_FALSE(found.namespaces[0].killed);
    CHECK(found.namespaces[1].killed);
  }
  SECTION("in a time between two probes") {
    for (FakeSeries& one : KilledSeries("shop", "a", true)) {
      one.from_ms = search.grid.start_ms + kHour;
      one.to_ms = search.grid.start_ms + 2 * kHour;
      search.Have({one});
    }
    found = search.Good(metrics);
    CHECK(found.namespaces[1].killed);
  }
  SECTION("as the kernel tells them, where nobody tells restarts") {
    search.server.series.clear();
    search.Have(ContainerSeries("calm", "a"));
    search.Have(ContainerSeries("shop", "a"));
    auto shop = KilledSeries("shop", "a", true);
    std::erase_if(shop, [](const FakeSeries& one) {
      return one.labels.at("__name__").find("status") != std::string::npos;
    });
    search.Have(std::move(shop));
    found = search.Good(metrics);
    CHECK(kinds(found) == std::vector{PastKind::kOwner, PastKind::kRequest, PastKind::kUsage,
                                      PastKind::kUsage, PastKind::kOomEvents});
    CHECK_FALSE(found.namespaces[0].killed);
    CHECK(found.namespaces[1].killed);
    CHECK(found.problems.empty());
    CHECK(found.notes.size() == 2);  // restarts and their times
  }
  SECTION("a cluster that adds its name where it sends") {
    search.Have(KilledSeries("shop", "a", true));
    search.options.external_labels = {{"cluster", "eu"}};
    found = search.Good(metrics);
    CHECK(found.namespaces[1].name.cluster == "eu");
    CHECK(found.namespaces[1].killed);
  }
}

TEST_CASE("what requests, labels or kills lack leaves nothing uncovered", "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("shop", "a"));
  search.Have(Renamed(KilledSeries("shop", "a", true), {{"pod", "pod_id"}}));
  auto metrics = ClusterAndKillMetrics();
  for (PastMetric& metric : metrics) {
    if (metric.kind == PastKind::kRequest) metric.only_where_killed = false;  // a weight
  }
  const Found found = search.Good(metrics);
  CHECK(found.problems.empty());
  CHECK(found.notes.size() == 3);
  CHECK(found.metrics.size() == 3);
}

TEST_CASE("a server of optional metrics alone has no problem", "[backfill][discovery]") {
  Search search;
  FakeSeries process;
  process.labels = {{"__name__", "namedprocess_namegroup_cpu_seconds_total"},
                    {"instance", "host:9256"},
                    {"groupname", "nginx"}};
  search.Have({process});
  std::vector<PastMetric> metrics = ClusterMetrics();
  PastMetric& wanted = metrics.emplace_back();
  wanted.metric = "namedprocess_namegroup_cpu_seconds_total";
  wanted.namespace_label = "instance";
  wanted.is_optional = true;
  const Found found = search.Good(metrics);
  CHECK(Names(found) == std::vector<std::string>{"/host:9256"});
  CHECK(found.problems.empty());
  CHECK(found.notes.size() == 3);
}

TEST_CASE("labels of old kubelets and of scrapes without honor_labels are understood",
          "[backfill][discovery]") {
  Search search;
  search.Have(Renamed(ContainerSeries("shop", "a"),
                      {{"pod", "pod_name"}, {"container", "container_name"}}));
  const std::vector<PastMetric> metrics = {ClusterMetrics()[0]};
  Found found = search.Good(metrics);
  REQUIRE(found.metrics.size() == 1);
  CHECK(found.metrics[0].container_label == "container_name");
  CHECK(Names(found) == std::vector<std::string>{"/shop"});
  CHECK(found.notes.size() == 1);

  search.server.series =
      Renamed(ContainerSeries("shop", "a"), {{"namespace", "exported_namespace"},
                                             {"pod", "exported_pod"},
                                             {"container", "exported_container"}});
  for (FakeSeries& one : search.server.series) {  // those of the exporter itself
    one.labels["namespace"] = "monitoring";
    one.labels["pod"] = "exporter-1";
    one.labels["container"] = "exporter";
  }
  found = search.Good(metrics);
  REQUIRE(found.metrics.size() == 1);
  CHECK(found.metrics[0].namespace_label == "exported_namespace");
  CHECK(Names(found) == std::vector<std::string>{"/shop"});
}

TEST_CASE("labels that fit nothing are shown beside those that are there",
          "[backfill][discovery]") {
  Search search;
  search.Have(Renamed(ContainerSeries("shop", "a"),
                      {{"namespace", "kubernetes_namespace"}, {"pod", "kubernetes_pod_name"}}));
  const auto found = search.Run(ClusterMetrics());
  REQUIRE_FALSE(found);
  CHECK(Has(found.error().message,
            "container_cpu_usage_seconds_total{}: the label names do not fit: "
            "no series has all of namespace, pod, container"));
  CHECK(Has(found.error().message,
            "its labels are __name__, container, cpu, id, "
            "kubernetes_namespace, kubernetes_pod_name"));
}

TEST_CASE("what ends the search is told", "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("shop", "a"));
  const auto fault = [&](const std::string& answer) {
    search.server.instead = [answer](const client::FakeRequest&) { return answer; };
    const auto found = search.Run(ClusterMetrics());
    REQUIRE_FALSE(found);
    return found.error();
  };
  const QueryFault denied = fault(client::HttpAnswer(401, "Unauthorized", "text/plain"));
  CHECK(denied.kind == QueryFaultKind::kDenied);
  CHECK(Has(denied.message, "answered 401"));
  const QueryFault page =
      fault(client::HttpAnswer(200, "<!DOCTYPE html><html><title>Log in</title>", "text/html"));
  CHECK(page.kind == QueryFaultKind::kNotTheApi);
  CHECK(Has(page.message, "HTML page"));
  CHECK(fault(client::HttpAnswer(404, "no")).kind == QueryFaultKind::kNotTheApi);
  CHECK(fault(client::HttpAnswer(200, "{\"status\":")).kind == QueryFaultKind::kPassing);
  CHECK(fault(PrometheusError(500, "internal", "broken")).kind == QueryFaultKind::kPassing);
}

TEST_CASE("a metric that the server refuses does not take the others with it",
          "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("shop", "a"));
  std::vector<PastMetric> metrics = ClusterMetrics();
  metrics[1].matchers = "what=is(this";
  const Found found = search.Good(metrics);
  CHECK(Names(found) == std::vector<std::string>{"/shop"});
  REQUIRE(found.problems.size() == 1);
  CHECK(Has(found.problems[0], "the server refuses to be asked for it"));
}

TEST_CASE("a server that cannot count so many is asked for names", "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("shop", "a"));
  search.server.instead = [](const client::FakeRequest& request) -> std::optional<std::string> {
    if (request.Path() != "/api/v1/query") return std::nullopt;
    return PrometheusError(422, "execution", "query processing would load too many samples");
  };
  CHECK(Names(search.Good()) == std::vector<std::string>{"/shop"});
}

TEST_CASE("a proxy that lets only GET pass is served", "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("shop", "a"));
  search.server.only_get = true;
  CHECK(Names(search.Good()) == std::vector<std::string>{"/shop"});
}

TEST_CASE("only the namespaces that were asked for are found", "[backfill][discovery]") {
  Search search;
  search.Have(ContainerSeries("shop", "web-1"));
  search.Have(ContainerSeries("shopping", "web-1"));
  search.Have(ContainerSeries("bank", "x", "eu"));
  search.Have(KilledSeries("bank", "x", true));
  search.options.namespaces = Selector::Parse("{namespace=\"shop\"}").value();
  CHECK(Names(search.Good()) == std::vector<std::string>{"/shop"});
  search.options.namespaces = Selector::Parse("{cluster=\"eu\"}").value();
  CHECK(Names(search.Good()) == std::vector<std::string>{"eu/bank"});
  search.options.namespaces = Selector::Parse("{namespace=~\"no.*\"}").value();
  const auto none = search.Run(ClusterMetrics());
  REQUIRE_FALSE(none);
  CHECK(none.error().kind == QueryFaultKind::kRefused);
  CHECK(none.error().message ==
        "no namespace matches {namespace=~\"no.*\"}; with usage there are: bank, shop, shopping");
}

}  // namespace tidemark::backfill
