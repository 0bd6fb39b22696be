#include <limits>

#include "tests/kubernetes/kubernetes_fakes.h"

using namespace tidemark;
using namespace tidemark::kubernetes;

namespace {

constexpr double kGi = 1024.0 * 1024 * 1024;

ContainerAdvice Container(const std::string& name, double cores, double bytes) {
  ContainerAdvice container;
  container.container = name;
  ResourceAdvice cpu = exporter::FullCpuAdvice();
  cpu.recommended_request = cores;
  container.resources = {cpu, exporter::MemoryAdvice(bytes)};
  return container;
}

/// The namespace shop: deployment and statefulset `web`, deployments `api` (no target) and
/// `worker`.
std::shared_ptr<NamespaceBlock> Shop(const std::string& cluster = "") {
  auto block = exporter::MakeBlock(
      cluster, "shop", {{"deployment", "api"}, {"deployment", "web"}, {"deployment", "worker"}},
      {Container("app", 0.25, 1.5 * kGi)});
  block->event_time_ms = kMinuteEndMs;
  WorkloadAdvice& web = block->workloads[1];
  web.scaling = exporter::Shared(exporter::WholeScaling());
  web.forecast = std::make_shared<const WorkloadForecast>(exporter::WholeForecast());
  web.containers = {Container("app", 0.25, 1.5 * kGi), Container("proxy", 0.1, 0.25 * kGi)};
  web.containers_in_pod = 2;
  WorkloadScaling small = exporter::WholeScaling();
  small.decision->target = 3;
  block->workloads[2].scaling = exporter::Shared(small);
  return block;
}

Port& With(Port& port, std::shared_ptr<NamespaceBlock> block) {
  port.shows.snapshot->blocks = {std::move(block)};
  return port;
}

boost::json::value Item(const HttpResponse& response) {
  CAPTURE(response.body);
  REQUIRE(response.status == 200);
  CHECK(HeaderOf(response, "Content-Type") == "application/json");
  const boost::json::value list = Json(response);
  CHECK(list.at("kind") == "ExternalMetricValueList");
  CHECK(list.at("apiVersion") == "external.metrics.k8s.io/v1beta1");
  CHECK(list.at("metadata").is_object());
  REQUIRE(list.at("items").as_array().size() == 1);
  return list.at("items").at(0);
}

}  // namespace

TEST_CASE("an HPA is given the target of the workload that it selects", "[kubernetes][metrics]") {
  Port port;
  With(port, Shop());
  CHECK(port.Metric("tidemark_target_replicas", "workload=web").body ==
        R"({"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1",)"
        R"("metadata":{},"items":[{"metricName":"tidemark_target_replicas","metricLabels":)"
        R"({"workload":"web","workload_type":"deployment"},"timestamp":"2023-11-14T22:14:00Z",)"
        R"("window":0,"value":"12"}]})"
        "\n");
  CHECK(port.Count(MetricAnswer::kServed) == 1);
  CHECK(
      Item(port.Metric("tidemark_target_replicas", "workload in (worker),workload_type=deployment"))
          .at("value") == "3");
}

TEST_CASE("more than one workload is refused, and said which", "[kubernetes][metrics]") {
  Port port;
  With(port, Shop());
  for (const char* const selector :
       {"", "workload_type=deployment", "workload!=api", "!container"}) {
    CAPTURE(selector);
    CHECK(
        StatusMessage(port.Metric("tidemark_target_replicas", selector), 400)
            .find("matches 2 workloads in namespace \"shop\" (deployment/web, deployment/worker), "
                  "whose values an autoscaler would add up") != std::string::npos);
  }
  CHECK(port.Count(MetricAnswer::kAmbiguous) == 4);
  // A workload that has no target is none to choose between.
  auto block = Shop();
  block->workloads[2].scaling = nullptr;
  With(port, block);
  CHECK(Item(port.Metric("tidemark_target_replicas", "")).at("value") == "12");
}

TEST_CASE("what is not found is said with what there is", "[kubernetes][metrics]") {
  Port port;
  With(port, Shop());
  CHECK(StatusMessage(port.Metric("tidemark_target_replicas", "workload=wbe"), 404) ==
        "no workload in namespace \"shop\" matches \"workload=wbe\"; known: web, worker");
  CHECK(StatusMessage(port.Metric("tidemark_target_replicas", "workload=web", "shp"), 404)
            .starts_with("nothing is known of the namespace \"shp\""));
  CHECK(StatusMessage(port.Metric("tidemark_target_replica", "workload=web"), 404) ==
        "the server could not find the metric tidemark_target_replica for namespaces/shop; there "
        "are tidemark_target_replicas, tidemark_forecast_load_ratio, "
        "tidemark_high_water_load_ratio, tidemark_recommended_request");
  CHECK(StatusMessage(port.Metric("tidemark_target_replicas", "workload=api"), 404)
            .starts_with("shop/api (deployment) has no tidemark_target_replicas: no "
                         "HorizontalPodAutoscaler names it"));
  CHECK(StatusMessage(port.Metric("tidemark_target_replicas", "workload=web,resource=cpu"), 404)
            .find("but none for which \"workload=web,resource=cpu\" holds") != std::string::npos);
  CHECK(StatusMessage(port.Metric("tidemark_target_replicas", "workload===web"), 400) ==
        "unable to parse the label selector: at position 11: found \"=\", expected a value");
  CHECK(
      StatusMessage(port.Ask("/apis/external.metrics.k8s.io/v1beta1/tidemark_target_replicas"), 400)
          .starts_with("values are of a namespace"));
  CHECK(port.Count(MetricAnswer::kNotFound) == 5);
  CHECK(port.Count(MetricAnswer::kBadRequest) == 2);
}

TEST_CASE("a value is served, held, and then refused", "[kubernetes][metrics]") {
  Port port;
  With(port, Shop());
  const auto ask = [&] { return port.Metric("tidemark_target_replicas", "workload=web"); };
  for (const int64_t age_ms : {-1000, 0, 149'999, 150'000}) {
    port.clock.now_ms = kMinuteEndMs + age_ms;
    CHECK_FALSE(Item(ask()).at("metricLabels").as_object().contains("stale"));
  }
  for (const int64_t age_ms : {150'001, 300'000}) {
    port.clock.now_ms = kMinuteEndMs + age_ms;
    const boost::json::value item = Item(ask());
    CHECK(item.at("metricLabels").at("stale") == "true");
    CHECK(item.at("value") == "12");
    CHECK(item.at("timestamp") == "2023-11-14T22:14:00Z");
  }
  port.clock.now_ms = kMinuteEndMs + 432'000;
  const HttpResponse late = ask();
  CHECK(StatusMessage(late, 503).starts_with(
      "tidemark_target_replicas of shop/web is 7m12s old (limit 5m0s): nothing newer comes in"));
  CHECK(Json(late).at("reason") == "ServiceUnavailable");
  // Requests follow history: they stay.
  CHECK(Item(port.Metric("tidemark_recommended_request", "workload=worker,resource=cpu"))
            .at("value") == "250m");
  CHECK(port.Count(MetricAnswer::kHeld) == 2);
  CHECK(port.Count(MetricAnswer::kTooOld) == 1);
  port.settings.freshness = {.serve_ms = 1000, .hold_ms = 2000};
  port.clock.now_ms = kMinuteEndMs + 2001;
  CHECK(StatusMessage(ask(), 503).find("is 2s old (limit 2s)") != std::string::npos);
}

TEST_CASE("without a decision the answer says why, and is never a number",
          "[kubernetes][metrics]") {
  Port port;
  for (const auto& [why, code] : std::vector<std::pair<const char*, unsigned>>{{"disabled", 404},
                                                                               {"no_bounds", 404},
                                                                               {"no_replicas", 503},
                                                                               {"no_request", 503},
                                                                               {"no_demand", 503},
                                                                               {"stale", 503}}) {
    CAPTURE(why);
    auto block = Shop();
    block->workloads[1].scaling = exporter::Shared(exporter::WithoutDecision(why));
    With(port, block);
    CHECK(StatusMessage(port.Metric("tidemark_target_replicas", "workload=web"), code)
              .starts_with("tidemark_target_replicas of shop/web is not known: No target: "));
  }
  port.ready = false;
  CHECK(StatusMessage(port.Metric("tidemark_target_replicas", "workload=web"), 503)
            .starts_with("Tidemark recovers its state"));
}

TEST_CASE("what is no number is not given back", "[kubernetes][metrics]") {
  Port port;
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(), -0.5, 1e300}) {
    auto block = Shop();
    block->workloads[2].containers = {Container("app", odd, kGi)};
    With(port, block);
    CHECK(StatusMessage(port.Metric("tidemark_recommended_request", "workload=worker,resource=cpu"),
                        503)
              .find("no number that can be given back") != std::string::npos);
  }
}

TEST_CASE("a target that an HPA would not follow is served so that it does",
          "[kubernetes][metrics]") {
  Port port;
  auto block = Shop();
  WorkloadScaling scaling = exporter::WholeScaling();
  scaling.decision->target = 11;
  scaling.escape_dead_band = true;
  block->workloads[1].scaling = exporter::Shared(scaling);
  With(port, block);
  const boost::json::value item = Item(port.Metric("tidemark_target_replicas", "workload=web"));
  CHECK(item.at("value") == "12");
  CHECK(item.at("metricLabels").at("escaped") == "true");
}

TEST_CASE("load ratios are of one horizon", "[kubernetes][metrics]") {
  Port port;
  With(port, Shop());
  // As in /metrics: demand over 10 replicas of 0.75 cores.
  const WorkloadForecast forecast = exporter::WholeForecast();
  const double expected = forecast.horizons.front().demand / 7.5;
  const std::string seconds = std::to_string(forecast.horizons.front().horizon_seconds);
  const boost::json::value item =
      Item(port.Metric("tidemark_forecast_load_ratio", "workload=web,horizon_seconds=" + seconds));
  CHECK(item.at("metricLabels").at("horizon_seconds").as_string() == seconds);
  CHECK(item.at("metricLabels").at("resource") == "cpu");
  CHECK(item.at("value").as_string().ends_with("m"));
  CHECK(std::abs(std::stod(item.at("value").as_string().c_str()) / 1000 - expected) <= 0.001);
  CHECK(StatusMessage(port.Metric("tidemark_forecast_load_ratio", "workload=web"), 400)
            .find("select one by horizon_seconds (") != std::string::npos);
  CHECK(
      Item(port.Metric("tidemark_high_water_load_ratio", "workload=web")).at("value").is_string());
  port.clock.now_ms = kMinuteEndMs + 300'001;
  CHECK(port.Metric("tidemark_high_water_load_ratio", "workload=web").status == 503);
  CHECK(StatusMessage(port.Metric("tidemark_forecast_load_ratio", "workload=api"), 404)
            .starts_with("shop/api (deployment) has no tidemark_forecast_load_ratio"));
}

TEST_CASE("requests are of a pod, or of one of its containers", "[kubernetes][metrics]") {
  Port port;
  With(port, Shop());
  const auto value = [&](const std::string& selector) {
    const boost::json::value item = Item(port.Metric("tidemark_recommended_request", selector));
    return std::string(item.at("value").as_string()) +
           (item.at("metricLabels").as_object().contains("container")
                ? " " + std::string(item.at("metricLabels").at("container").as_string())
                : "");
  };
  CHECK(value("workload=web,resource=cpu") == "350m");
  CHECK(value("workload=web,resource=memory") == "1792Mi");
  CHECK(value("workload=web,resource=cpu,container=proxy") == "100m proxy");
  CHECK(value("workload=web,unit=byte,container!=app") == "256Mi proxy");
  CHECK(value("workload=worker,resource=memory") == "1536Mi app");
  CHECK(StatusMessage(port.Metric("tidemark_recommended_request", "workload=worker"), 400) ==
        "shop/worker has 2 values of tidemark_recommended_request, which an autoscaler would add "
        "up: select one by resource (cpu, memory)");
  auto block = Shop();
  block->workloads[1].containers[1].resources[0].recommended_request.reset();
  With(port, block);
  CHECK(StatusMessage(port.Metric("tidemark_recommended_request", "workload=web,resource=cpu"), 503)
            .find("of its container proxy there is no recommendation yet") != std::string::npos);
}

TEST_CASE("a sum over a pod is not given while a container is not accounted for",
          "[kubernetes][metrics]") {
  Port port;
  const auto refused = [&](const std::shared_ptr<NamespaceBlock>& block, const std::string& of) {
    With(port, block);
    CHECK(StatusMessage(port.Metric("tidemark_recommended_request", of), 503)
              .find("select one by container") != std::string::npos);
  };
  // Nothing is known of the proxy's memory; its CPU is.
  auto partial = Shop();
  partial->workloads[1].containers[1].resources.pop_back();
  refused(partial, "workload=web,resource=memory");
  CHECK(
      Item(port.Metric("tidemark_recommended_request", "workload=web,resource=cpu")).at("value") ==
      "350m");
  // Nothing is known of a third one, or of the second.
  auto third = Shop();
  third->workloads[1].containers_in_pod = 3;
  refused(third, "workload=web,resource=cpu");
  auto second = Shop();
  second->workloads[1].containers.pop_back();
  refused(second, "workload=web,resource=cpu");
  CHECK(Item(port.Metric("tidemark_recommended_request", "workload=web,resource=cpu,container=app"))
            .at("value") == "250m");
  // The proxy was taken out; what it used is still remembered.
  auto gone = Shop();
  gone->workloads[1].containers_in_pod = 1;
  refused(gone, "workload=web,resource=memory");
}

TEST_CASE("one port serves one cluster", "[kubernetes][metrics]") {
  Port port;
  auto east = Shop("east");
  auto west = Shop("west");
  WorkloadScaling other = exporter::WholeScaling();
  other.decision->target = 5;
  west->workloads[1].scaling = exporter::Shared(other);
  port.shows.snapshot->blocks = {east, west};
  CHECK(StatusMessage(port.Metric("tidemark_target_replicas", "workload=web"), 503)
            .find("--kubernetes.cluster=NAME") != std::string::npos);
  port.settings.cluster = "west";
  const boost::json::value item = Item(port.Metric("tidemark_target_replicas", "workload=web"));
  CHECK(item.at("value") == "5");
  CHECK(item.at("metricLabels").at("cluster") == "west");
  port.settings.cluster = "north";
  CHECK(port.Metric("tidemark_target_replicas", "workload=web").status == 404);
  port.settings.cluster = "";
  port.shows.snapshot->blocks = {east};
  CHECK(Item(port.Metric("tidemark_target_replicas", "workload=web,cluster=east")).at("value") ==
        "12");
}

TEST_CASE("an autoscaler's name selects what it scales", "[kubernetes][metrics]") {
  Port port;
  auto block = Shop();
  WorkloadScaling scaling = exporter::WholeScaling();
  AutoscalerUtilization target;
  target.autoscaler = "web-hpa";
  scaling.utilization_targets = {target};
  block->workloads[1].scaling = exporter::Shared(scaling);
  With(port, block);
  CHECK(Item(port.Metric("tidemark_target_replicas", "hpa=web-hpa")).at("value") == "12");
  CHECK(port.Metric("tidemark_target_replicas", "hpa=other").status == 404);
}

TEST_CASE("kubectl gets a table of everything that matches", "[kubernetes][metrics]") {
  Port port;
  auto block = Shop();
  block->workloads[2].scaling = exporter::Shared(exporter::WithoutDecision("no_demand"));
  With(port, block);
  const auto ask = [&](const std::string& path, const std::string& version = "v1") {
    return port.Ask(
        "/apis/external.metrics.k8s.io/v1beta1" + path,
        {{"Accept", "application/json;as=Table;v=" + version + ";g=meta.k8s.io,application/json"}});
  };
  for (const char* const path :
       {"/namespaces/shop/tidemark_target_replicas?limit=500", "/tidemark_target_replicas"}) {
    const boost::json::value table = Json(ask(path));
    CHECK(table.at("kind") == "Table");
    CHECK(table.at("apiVersion") == "meta.k8s.io/v1");
    const auto& columns = table.at("columnDefinitions").as_array();
    const auto& rows = table.at("rows").as_array();
    REQUIRE(rows.size() == 2);
    for (const auto& row : rows) {
      CHECK(row.at("cells").as_array().size() == columns.size());
      CHECK(row.at("object").at("kind") == "PartialObjectMetadata");
      CHECK(row.at("object").at("metadata").at("namespace") == "shop");
    }
    CHECK(columns[2].at("name") == "Target");
    CHECK(rows[0].at("cells").at(0) == "web");
    CHECK(rows[0].at("cells").at(2) == 12);
    CHECK(rows[0].at("cells").at(6).as_string().starts_with("12 replicas (10 now): demand"));
    CHECK(rows[0].at("cells").at(7) == "5s");
    CHECK(rows[1].at("cells").at(2).is_null());
    CHECK(rows[1].at("cells").at(6).as_string().starts_with("No target: "));
  }
  CHECK(Json(ask("/namespaces/shop/tidemark_target_replicas", "v1beta1")).at("apiVersion") ==
        "meta.k8s.io/v1beta1");
  CHECK(Json(ask("/namespaces/shop/tidemark_recommended_request?labelSelector=workload=web"))
            .at("rows")
            .as_array()
            .size() == 2);
  StatusMessage(ask("/namespaces/shop/tidemark_target_replicas?labelSelector=workload=x"), 404);
  port.clock.now_ms = kMinuteEndMs + 200'000;
  const boost::json::value held =
      Json(ask("/namespaces/shop/tidemark_target_replicas")).at("rows").at(0).at("cells");
  CHECK(held.at(2) == 12);
  CHECK(held.at(6).as_string().starts_with("Held: nothing newer comes in."));
  port.clock.now_ms = kMinuteEndMs + 301'000;
  const boost::json::value old =
      Json(ask("/namespaces/shop/tidemark_target_replicas")).at("rows").at(0).at("cells");
  CHECK(old.at(2).is_null());
  CHECK(old.at(6) == "Too old (limit 5m0s): nothing newer comes in.");
}

TEST_CASE("what cannot be sent is not acceptable", "[kubernetes][metrics]") {
  Port port;
  With(port, Shop());
  StatusMessage(port.Ask("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/"
                         "tidemark_target_replicas?labelSelector=workload=web",
                         {{"Accept", "application/vnd.kubernetes.protobuf"}}),
                406);
}
