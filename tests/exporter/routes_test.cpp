#include "exporter/routes.h"

#include <set>

#include "tests/catch.h"
#include "tests/exporter/daemon.h"
#include "tests/exporter/gunzip.h"
#include "tests/exporter/page_parser.h"

using namespace tidemark;
using namespace tidemark::exporter;

TEST_CASE("every path is there once, and all but two answer GET only", "[exporter][routes]") {
  const FakeDaemon daemon;
  std::set<std::string> paths;
  for (const HttpRoute& route : daemon.routes) {
    CHECK(paths.insert(route.path).second);
    std::vector<std::string> methods = {"GET"};
    if (route.path == "/api/v1/backfill") methods = {"POST", "DELETE"};
    if (route.path == "/-/reload") methods = {"POST", "PUT"};
    CHECK(route.methods == methods);
    CHECK(route.admission == nullptr);
  }
  CHECK(paths == std::set<std::string>{
                     "/", "/-/healthy", "/-/ready", "/metrics", "/api/v1/recommendations",
                     "/api/v1/status/sources", "/api/v1/status/buildinfo", "/api/v1/status/config",
                     "/api/v1/status/runtimeinfo", "/api/v1/backfill", "/api/v1/status/backfill",
                     "/-/reload", "/api/v1/workloads/*", "/api/v1/scaling"});
}

TEST_CASE("health is always, readiness when it is", "[exporter][routes]") {
  FakeDaemon daemon;
  daemon.ready = false;
  CHECK(daemon.Get("/-/healthy").status == 200);
  CHECK(daemon.Get("/-/healthy").body == "Tidemark is Healthy.\n");
  CHECK(daemon.Get("/-/ready").status == 503);
  CHECK(daemon.Get("/-/ready").body == "Tidemark is not ready.\n");
  daemon.ready = true;
  CHECK(daemon.Get("/-/ready").status == 200);
  CHECK(daemon.Get("/-/ready").body == "Tidemark is Ready.\n");
}

TEST_CASE("a reload is answered by what came of it", "[exporter][routes]") {
  FakeDaemon daemon;
  CHECK(daemon.Get("/-/reload").status == 200);
  CHECK(daemon.Get("/-/reload").body.empty());
  daemon.reloaded = Fail(ErrorCode::kInvalidArgument, "tidemark.yml:1: foo: there is no such key");
  CHECK(daemon.Get("/-/reload").status == 500);
  CHECK(daemon.Get("/-/reload").body ==
        "failed to reload config: tidemark.yml:1: foo: there is no such key\n");
  daemon.reloaded = Fail(ErrorCode::kUnavailable, "Tidemark is starting or stopping");
  CHECK(daemon.Get("/-/reload").status == 503);
}

TEST_CASE("the page says whether the last reload took effect, and when one did",
          "[exporter][routes]") {
  FakeDaemon daemon;
  const auto value = [&daemon](const std::string& family) {
    const auto page = ParsePage(daemon.Get("/metrics").body, ExpositionFormat::kText);
    return FindFamily(page, family).Value({});
  };
  CHECK(value("tidemark_config_last_reload_successful") == 1);
  CHECK(value("tidemark_config_last_reload_success_timestamp_seconds") == 1700000000.25);
  daemon.config_status.last_reload_successful = false;
  CHECK(value("tidemark_config_last_reload_successful") == 0);
}

TEST_CASE("the landing page links every other path", "[exporter][routes]") {
  FakeDaemon daemon;
  const HttpResponse page = daemon.Get("/");
  CHECK(HeaderOf(page, "Content-Type") == "text/html; charset=utf-8");
  for (const HttpRoute& route : daemon.routes) {
    const bool page_like = !route.methods.empty() && route.methods.front() == "GET";
    if (route.path == "/" || !page_like) continue;
    INFO(route.path);
    if (route.path.ends_with("/*")) {  // has parts that only the reader knows
      CHECK(page.body.find(route.path.substr(1, route.path.size() - 2) + "NAMESPACE/TYPE/NAME") !=
            std::string::npos);
      continue;
    }
    CHECK(page.body.find("href=\"" + route.path.substr(1) + "\"") != std::string::npos);
  }
}

TEST_CASE("the metrics page comes in the form that was asked for", "[exporter][routes]") {
  FakeDaemon daemon(
      MakeSnapshot({MakeBlock("", "a", {{"job", "x"}}, {{"app", {FullCpuAdvice()}}})}));
  const HttpResponse text = daemon.Get("/metrics");
  CHECK(text.status == 200);
  CHECK(HeaderOf(text, "Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(HeaderOf(text, "Vary") == "Accept, Accept-Encoding");
  CHECK(HeaderOf(text, "Content-Encoding").empty());
  const auto page = ParsePage(text.body, ExpositionFormat::kText);
  CHECK(HasFamily(page, "tidemark_recommended_request"));
  CHECK(HasFamily(page, "process_start_time_seconds"));

  const HttpResponse openmetrics = daemon.Get(
      "/metrics", {}, {{"Accept", "application/openmetrics-text"}, {"Accept-Encoding", "gzip"}});
  CHECK(HeaderOf(openmetrics, "Content-Type") ==
        "application/openmetrics-text; version=1.0.0; charset=utf-8");
  CHECK(HeaderOf(openmetrics, "Content-Encoding") == "gzip");
  CHECK(HasFamily(ParsePage(Gunzip(openmetrics.body), ExpositionFormat::kOpenMetrics),
                  "process_cpu_seconds"));
}

TEST_CASE("API answers are compressed when asked for", "[exporter][routes]") {
  FakeDaemon daemon(MakeSnapshot(
      {MakeBlock("", "a", {{"job", "x"}}, {{"app", {FullCpuAdvice(), MemoryAdvice(1)}}})}));
  const HttpResponse plain = daemon.Get("/api/v1/recommendations");
  const HttpResponse packed =
      daemon.Get("/api/v1/recommendations", {}, {{"Accept-Encoding", "gzip"}});
  CHECK(HeaderOf(packed, "Content-Encoding") == "gzip");
  CHECK(Gunzip(packed.body) == plain.body);
}

TEST_CASE("the names of VPA's dashboards are there while they are wanted", "[exporter][routes]") {
  FakeDaemon daemon(
      MakeSnapshot({MakeBlock("", "a", {{"job", "x"}}, {{"app", {FullCpuAdvice()}}})}));
  const std::string name =
      "kube_customresource_verticalpodautoscaler_status_recommendation_containerrecommendations_";
  CHECK(daemon.Get("/metrics").body.find(name) == std::string::npos);
  daemon.vpa_metrics = true;
  CHECK(daemon.Get("/metrics").body.find(name + "target{") != std::string::npos);
  daemon.vpa_metrics = false;
  CHECK(daemon.Get("/metrics").body.find(name) == std::string::npos);
}
