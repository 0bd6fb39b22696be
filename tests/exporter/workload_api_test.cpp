#include "exporter/workload_api.h"

#include <boost/json.hpp>
#include <limits>

#include "model/near_miss.h"
#include "tests/catch.h"
#include "tests/exporter/daemon.h"
#include "tests/exporter/gunzip.h"

using namespace tidemark;
using namespace tidemark::exporter;
namespace json = boost::json;

namespace {

constexpr double kMiB = 1024.0 * 1024;
constexpr int64_t kNow = 1700000000000;

ResourceExplanation CpuExplanation() {
  ResourceExplanation cpu;
  cpu.advice = WholeCpuAdvice();
  cpu.histogram = {9360, kNow - 86'400'000,
                   kNow, 86'400'000,
                   12.5, {{0.2, 0.21, 0.75}, {1000, 1000, 0.25}},
                   0.21, 0.21,
                   0.21, 0.21,
                   1000};
  cpu.high_water = {.threshold = 0.25,
                    .observations = 9360,
                    .excesses = 187,
                    .clusters = 3,
                    .method = "moments",
                    .shape = -0.25,
                    .scale = 0.125,
                    .end_point = 0.75,
                    .note = "3 separate peaks only"};
  cpu.steps = {{"percentile", 0.21, true, "95th percentile"}, {"margin", 0.21, false, ""}};
  return cpu;
}

ResourceExplanation MemoryExplanation() {
  ResourceExplanation memory;
  memory.advice = MemoryAdvice(1200 * kMiB);
  memory.advice.model_request = 1000 * kMiB;
  memory.advice.kills = 2;
  memory.advice.confidence_days = 1;
  memory.advice.samples = 2;
  memory.advice.original_request = 512 * kMiB;
  memory.advice.Mark(AdviceMark::kKills);
  memory.advice.Mark(AdviceMark::kFloor);
  memory.kills = {{kNow, 800 * kMiB, 1000 * kMiB, kNow + 259'200'000},
                  {kNow - 1000, std::nullopt, 900 * kMiB, kNow - 1000}};
  memory.histogram.half_life_ms = 86'400'000;
  return memory;
}

WorkloadExplanation WebExplanation(const std::string& cluster) {
  WorkloadExplanation web;
  web.id = {cluster, "shop", "deployment", "web"};
  web.event_time_ms = kNow;
  web.replicas = 3;
  ContainerExplanation& app = web.containers.emplace_back();
  app.container = "app";
  app.profile = TwoProfiles()->profiles()[0];
  app.profiles_before = {{"batch", "workload_type=\"cronjob\": it is \"deployment\""}};
  app.resources = {CpuExplanation(), MemoryExplanation()};
  return web;
}

struct DaemonWithWeb : FakeDaemon {
  explicit DaemonWithWeb(Snapshot snapshot = {}) : FakeDaemon(std::move(snapshot)) {
    state.explanations = {WebExplanation("")};
  }
};

json::value Data(const HttpResponse& response) {
  INFO(response.body);
  REQUIRE(response.status == 200);
  CHECK(HeaderOf(response, "Content-Type") == "application/json");
  return json::parse(response.body).at("data");
}

std::string ErrorOf(const HttpResponse& response, unsigned status, std::string_view type) {
  INFO(response.body);
  CHECK(response.status == status);
  const json::value answer = json::parse(response.body);
  CHECK(answer.at("status") == "error");
  CHECK(answer.at("errorType").as_string() == json::string_view(type.data(), type.size()));
  return std::string(answer.at("error").as_string().c_str());
}

const std::string kWeb = "/api/v1/workloads/shop/deployment/web";

}  // namespace

TEST_CASE("a workload shows what its demand is and will be, in brief where that is asked for",
          "[exporter][workload][forecast]") {
  DaemonWithWeb daemon;
  const auto forecast_of = [&](std::vector<std::pair<std::string, std::string>> query = {}) {
    const json::object web =
        Data(daemon.Get(kWeb, std::move(query))).at("workloads").at(0).as_object();
    return web.contains("forecast") ? web.at("forecast") : json::value();
  };
  CHECK(forecast_of().is_null());
  ForecastExplanation& forecast = daemon.state.explanations[0].forecast.emplace();
  forecast.now = WholeForecast();
  forecast.history = {{kNow, 1}};
  CHECK(forecast_of().at("demand") == 3);
  CHECK(forecast_of().at("load_ratio") == 2);  // of three replicas
  CHECK(forecast_of().as_object().contains("history"));
  CHECK(forecast_of({{"history", "true"}}).as_object().contains("past"));
  const json::value brief = forecast_of({{"history", "false"}, {"cluster", ""}});
  CHECK(brief.at("demand") == 3);
  CHECK_FALSE(brief.as_object().contains("history"));
  CHECK_FALSE(brief.as_object().contains("past"));
  CHECK(ErrorOf(daemon.Get(kWeb, {{"history", "no"}}), 400, "bad_data") ==
        "parameter \"history\" is \"no\"; allowed are true, false");
}

TEST_CASE("a workload shows how each of its requests came about", "[exporter][workload]") {
  DaemonWithWeb daemon;
  const json::value data = Data(daemon.Get(kWeb));
  const json::array& workloads = data.at("workloads").as_array();
  REQUIRE(workloads.size() == 1);
  const json::object& web = workloads[0].as_object();
  CHECK_FALSE(web.contains("cluster"));
  CHECK(web.at("namespace") == "shop");
  CHECK(web.at("workload_type") == "deployment");
  CHECK(web.at("workload") == "web");
  CHECK(web.at("replicas") == 3);
  CHECK(web.at("event_time") == "2023-11-14T22:13:20.000Z");
  const json::value& app = web.at("containers").at(0);
  CHECK(app.at("container") == "app");
  CHECK(json::serialize(app.at("profile")) ==
        R"({"name":"shared","preset":"oversell","level":"container","strict":false,)"
        R"("mode":"dynamic","effect":"applied","profiles_before":[{"name":"batch",)"
        R"("why_not":"workload_type=\"cronjob\": it is \"deployment\""}]})");

  const json::value& cpu = app.at("resources").at(0);
  CHECK(cpu.at("resource") == "cpu");
  CHECK(cpu.at("unit") == "core");
  CHECK(cpu.at("recommended_request") == 0.2415);
  CHECK(cpu.at("lower_bound") == 0.12);
  CHECK(cpu.at("upper_bound") == 0.5);
  CHECK(cpu.at("confidence_days") == 6.5);
  CHECK(cpu.at("samples") == 9360);
  CHECK_FALSE(cpu.as_object().contains("kills"));
  CHECK(cpu.at("marks").as_array().empty());
  CHECK(cpu.at("reason") == "cpu 242m: the 95th percentile of 6.5 days of samples is 210m");
  CHECK(json::serialize(cpu.at("steps")) ==
        R"([{"name":"percentile","value":2.1E-1,"changed":true,"what":"95th percentile"},)"
        R"({"name":"margin","value":2.1E-1,"changed":false}])");
  CHECK(json::serialize(cpu.at("histogram")) ==
        R"({"samples":9360,"first_sample":"2023-11-13T22:13:20.000Z",)"
        R"("last_sample":"2023-11-14T22:13:20.000Z","half_life_seconds":86400,)"
        R"("total_weight":1.25E1,"p50":2.1E-1,"p90":2.1E-1,"p95":2.1E-1,"p99":2.1E-1,"max":1000,)"
        R"("buckets":[{"start":2E-1,"end":2.1E-1,"weight_ratio":7.5E-1},)"
        R"({"start":1000,"weight_ratio":2.5E-1}]})");
  CHECK(json::serialize(cpu.at("high_water_fit")) ==
        R"({"threshold":2.5E-1,"observations":9360,"excesses":187,"clusters":3,)"
        R"("method":"moments","shape":-2.5E-1,"scale":1.25E-1,"end_point":7.5E-1,)"
        R"("note":"3 separate peaks only"})");
  CHECK(cpu.at("high_water").as_array().size() == 2);
  CHECK(json::serialize(cpu.at("correction")) ==
        R"({"rule":"candidate","request":2.415E-1,"changed":true,)"
        R"("what":"242m: the recommendation is less than the original request of 1.5"})");

  const json::value& memory = app.at("resources").at(1);
  CHECK(memory.at("kills") == 2);
  CHECK_FALSE(memory.as_object().contains("high_water"));
  CHECK_FALSE(memory.as_object().contains("high_water_fit"));
  CHECK(json::serialize(memory.at("marks")) == R"(["kills","floor"])");
  CHECK(json::serialize(memory.at("kills_counted")) ==
        R"([{"time":"2023-11-14T22:13:20.000Z","request":838860800,"needed":1048576000,)"
        R"("holds_until":"2023-11-17T22:13:20.000Z"},)"
        R"({"time":"2023-11-14T22:13:19.000Z","needed":943718400}])");
  CHECK(memory.at("correction").at("rule") == "off");
  CHECK(memory.at("correction").at("changed") == false);
}

TEST_CASE("an original that is not known is said in the correction", "[exporter][workload]") {
  DaemonWithWeb daemon;
  ResourceExplanation& cpu = daemon.state.explanations[0].containers[0].resources[0];
  cpu.advice.original_request.reset();
  const json::value data = Data(daemon.Get(kWeb));
  const json::value& correction =
      data.at("workloads").at(0).at("containers").at(0).at("resources").at(0).at("correction");
  CHECK(correction.at("rule") == "unknown_original");
  CHECK_FALSE(correction.as_object().contains("request"));
  CHECK(correction.at("what") ==
        "the original request is not known: right-sizing reads it from the manifest");
}

TEST_CASE("every cluster answers unless one is asked for", "[exporter][workload]") {
  FakeDaemon daemon;
  daemon.state.explanations = {WebExplanation(""), WebExplanation("eu"), WebExplanation("us")};
  const auto clusters = [&](const std::vector<std::pair<std::string, std::string>>& query) {
    std::string names;
    const json::value data = Data(daemon.Get(kWeb, query));
    for (const json::value& web : data.at("workloads").as_array()) {
      const json::value* cluster = web.as_object().if_contains("cluster");
      names += (cluster == nullptr ? "-" : std::string(cluster->as_string().c_str())) + " ";
    }
    return names;
  };
  CHECK(clusters({}) == "- eu us ");
  CHECK(clusters({{"cluster", "us"}}) == "us ");
  CHECK(clusters({{"cluster", ""}}) == "- ");
  CHECK(ErrorOf(daemon.Get(kWeb, {{"cluster", "asia"}}), 404, "not_found") ==
        "the workload is not in cluster \"asia\"");
}

TEST_CASE("names come whole out of the path", "[exporter][workload]") {
  /// Answers only to odd names.
  struct Odd final : StateReader {
    Result<std::vector<WorkloadStatus>> Explain(std::string_view, std::string_view) const override {
      return Fail(ErrorCode::kInternal, "not asked");
    }
    Result<std::vector<WorkloadExplanation>> ExplainRequests(
        std::string_view name_space, std::string_view type,
        std::string_view workload) const override {
      if (name_space == "host:9256" && type == "process" && workload == "a/b %20\xC3\xB6") {
        return std::vector<WorkloadExplanation>{WebExplanation("")};
      }
      return Fail(ErrorCode::kNotFound, "no");
    }
  };
  HttpRequest request;
  request.raw_path = "/api/v1/workloads/host:9256/process/a%2Fb%20%2520%c3%B6";
  CHECK(WorkloadAnswer(Snapshot(), Odd(), request).status == 200);
}

TEST_CASE("a path with other than three names is refused", "[exporter][workload]") {
  DaemonWithWeb daemon;
  for (const char* path :
       {"/api/v1/workloads/", "/api/v1/workloads/shop", "/api/v1/workloads/shop/deployment",
        "/api/v1/workloads/shop/deployment/", "/api/v1/workloads//deployment/web",
        "/api/v1/workloads/shop//web", "/api/v1/workloads/shop/deployment/web/",
        "/api/v1/workloads/shop/deployment/web/app"}) {
    INFO(path);
    CHECK(ErrorOf(daemon.Get(path), 400, "bad_data").find("{namespace}/{type}/{name}") !=
          std::string::npos);
  }
  CHECK(ErrorOf(daemon.Get(kWeb, {{"namespace", "shop"}}), 400, "bad_data") ==
        "parameter \"namespace\" is unknown; allowed are cluster, history");
}

TEST_CASE("a workload that is not there is answered with what comes near", "[exporter][workload]") {
  FakeDaemon daemon(MakeSnapshot(
      {MakeBlock("", "shop", {{"deployment", "web-frontend"}, {"statefulset", "web"}}, {}),
       MakeBlock("eu", "bank", {{"deployment", "web"}}, {})}));
  CHECK(ErrorOf(daemon.Get(kWeb), 404, "not_found") ==
        "workload \"web\" is not known; perhaps shop/statefulset/web, bank/deployment/web in "
        "cluster eu, shop/deployment/web-frontend");
  CHECK(ErrorOf(daemon.Get("/api/v1/workloads/shop/deployment/queue"), 404, "not_found") ==
        "workload \"queue\" is not known");
}

TEST_CASE("near misses are few, and alike", "[exporter][workload]") {
  std::vector<std::pair<std::string, std::string>> many;
  for (char c = 'a'; c <= 'z'; ++c) many.emplace_back("job", std::string("batch-") + c);
  const Snapshot snapshot = MakeSnapshot(
      {MakeBlock("", "jobs", many, {}), MakeBlock("", "shop", {{"deployment", "chekout"}}, {})});
  const auto near = [&](const char* name_space, const char* name) {
    return NearMisses(snapshot, {"", name_space, "job", name});
  };
  CHECK(near("jobs", "batch-1").size() == 5);
  CHECK(near("jobs", "batch-1").front() == "jobs/job/batch-a");
  CHECK(near("jobs", "bulk-a").empty());
  CHECK(near("jobs", "b").empty());
  CHECK(near("shop", "checkout") == std::vector<std::string>{"shop/deployment/chekout"});
  CHECK(near("other", "checkout").empty());
  CHECK(near("shop", "chekout") == std::vector<std::string>{"shop/deployment/chekout"});
  CHECK(NearMisses(snapshot, {"", "shop", "deployment", "chekout"}).empty());
  CHECK(near("jobs", std::string(100000, 'x').c_str()).empty());
}

TEST_CASE("a workload's answer is a route like the others", "[exporter][workload]") {
  DaemonWithWeb daemon;
  const HttpResponse plain = daemon.Get(kWeb);
  const HttpResponse packed = daemon.Get(kWeb, {}, {{"Accept-Encoding", "gzip"}});
  CHECK(HeaderOf(packed, "Content-Encoding") == "gzip");
  CHECK(Gunzip(packed.body) == plain.body);
  daemon.ready = false;
  CHECK(ErrorOf(daemon.Get(kWeb), 503, "unavailable").find("not ready") != std::string::npos);
}

TEST_CASE("figures that are no numbers do not break the explanation", "[exporter][workload]") {
  DaemonWithWeb daemon;
  ResourceExplanation& cpu = daemon.state.explanations[0].containers[0].resources[0];
  cpu.histogram.max = std::numeric_limits<double>::infinity();
  cpu.advice.recommended_request = std::numeric_limits<double>::quiet_NaN();
  const json::value data = Data(daemon.Get(kWeb));
  const json::value& shown =
      data.at("workloads").at(0).at("containers").at(0).at("resources").at(0);
  CHECK(shown.at("histogram").at("max").is_null());
  CHECK(shown.at("recommended_request").is_null());
}
