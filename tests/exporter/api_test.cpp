#include "exporter/api.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>

#include "exporter/recommendation_query.h"
#include "tests/catch.h"
#include "tests/exporter/daemon.h"
#include "tests/exporter/scaling_fakes.h"

using namespace tidemark;
using namespace tidemark::exporter;
namespace json = boost::json;

namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

/// Two clusters, three namespaces, 2 x 2 workloads, two containers with two resources: 48 items.
Snapshot ManyItems() {
  const std::vector<std::pair<std::string, std::string>> workloads = {
      {"deployment", "api"}, {"deployment", "web"}, {"statefulset", "api"}, {"statefulset", "db"}};
  const std::vector<ContainerAdvice> containers = {{"app", {FullCpuAdvice(), MemoryAdvice(1)}},
                                                   {"side", {FullCpuAdvice(), MemoryAdvice(2)}}};
  return MakeSnapshot({MakeBlock("", "shop", workloads, containers),
                       MakeBlock("eu", "bank", workloads, containers),
                       MakeBlock("eu", "shop", workloads, containers)});
}

json::value Data(const HttpResponse& response) {
  INFO(response.body);
  REQUIRE(response.status == 200);
  const json::value answer = json::parse(response.body);
  REQUIRE(answer.at("status") == "success");
  return answer.at("data");
}

json::array Items(FakeDaemon& daemon, const Query& query) {
  return Data(daemon.Get("/api/v1/recommendations", query)).at("recommendations").as_array();
}

void CheckError(const HttpResponse& response, unsigned status, std::string_view type,
                const std::vector<std::string>& parts) {
  INFO(response.body);
  CHECK(response.status == status);
  CHECK(HeaderOf(response, "Content-Type") == "application/json");
  const json::value answer = json::parse(response.body);
  CHECK(answer.at("status") == "error");
  CHECK(answer.at("errorType").as_string() == json::string_view(type.data(), type.size()));
  const std::string message(answer.at("error").as_string().c_str());
  for (const std::string& part : parts) CHECK(message.find(part) != std::string::npos);
}

std::string Identity(const json::value& item) {
  std::string identity;
  for (const char* key :
       {"cluster", "namespace", "workload_type", "workload", "container", "resource"}) {
    const json::value* value = item.as_object().if_contains(key);
    identity +=
        (value == nullptr ? std::string("-") : std::string(value->as_string().c_str())) + "|";
  }
  return identity;
}

}  // namespace

TEST_CASE("a recommendation shows everything that is known and nothing else", "[exporter][api]") {
  FakeDaemon daemon(MakeSnapshot({
      MakeBlock("", "host", {{"process", "a\"b\\c\nK\xC3\xB6ln"}},
                {{"", {MemoryAdvice(134217728)}}}),
      MakeBlock("eu", "shop", {{"deployment", "web"}}, {{"app", {FullCpuAdvice()}}}),
  }));
  const HttpResponse response = daemon.Get("/api/v1/recommendations");
  CHECK(HeaderOf(response, "Content-Type") == "application/json");
  CHECK(
      response.body ==
      R"({"status":"success","data":{"generation":42,"published":"2023-11-14T22:13:35.000Z","recommendations":[)"
      R"({"namespace":"host","workload_type":"process","workload":"a\"b\\c\n)"
      "K\xC3\xB6ln"
      R"(","resource":"memory","unit":"byte","recommended_request":134217728,"kills":0,"replicas":3,)"
      R"("last_sample":"2023-11-14T22:13:20.000Z"},)"
      R"({"cluster":"eu","namespace":"shop","workload_type":"deployment","workload":"web","container":"app",)"
      R"("resource":"cpu","unit":"core","current_request":1,"current_limit":2,"model_request":0.21,)"
      R"("recommended_request":0.2415,"reclaimable":2.2755,"confidence_days":6.5,"samples":0,"replicas":3,)"
      R"("last_sample":"2023-11-14T22:13:20.000Z"}],)"
      R"("summary":{"resources":[{"resource":"cpu","unit":"core","current_request":3,)"
      R"("recommended_request":0.7244999999999999,"reclaimable":2.2755,"containers_known":1,)"
      R"("containers":{"unknown":0,"absent":0,"under":0,"fitting":0,"over":0,"far_over":1}},)"
      R"({"resource":"memory","unit":"byte","containers_known":0,)"
      R"("containers":{"unknown":0,"absent":1,"under":0,"fitting":0,"over":0,"far_over":0}}]}}})");
}

TEST_CASE("a recommendation has its bounds, its original, its profile and its reason",
          "[exporter][api]") {
  const ProfileSetPtr profiles = TwoProfiles();
  ResourceAdvice memory = MemoryAdvice(1288490188.8);
  memory.model_request = 1120426251;
  memory.kills = 2;
  memory.Mark(AdviceMark::kKills);
  FakeDaemon daemon(MakeSnapshot({MakeBlock("", "shop", {{"deployment", "web"}},
                                            {{"app", {WholeCpuAdvice()}, &profiles->profiles()[0]},
                                             {"side", {memory}, &profiles->fallback()}},
                                            profiles)}));
  const json::array items = Items(daemon, {});
  REQUIRE(items.size() == 2);
  CHECK(json::serialize(items[0]) ==
        R"({"namespace":"shop","workload_type":"deployment","workload":"web","container":"app",)"
        R"("resource":"cpu","unit":"core","current_request":1,"current_limit":2,)"
        R"("original_request":1.5E0,"model_request":2.1E-1,"recommended_request":2.415E-1,)"
        R"("lower_bound":1.2E-1,"upper_bound":5E-1,"reclaimable":2.2755E0,"confidence_days":6.5E0,)"
        R"("samples":9360,"high_water":[)"
        R"({"risk":1E-2,"value":3E-1,"fitted":true,"confident":true,"censored":false},)"
        R"({"risk":1E-4,"value":4.2E-1,"fitted":true,"confident":false,"censored":true}],)"
        R"("replicas":3,"last_sample":"2023-11-14T22:13:20.000Z","profile":"shared",)"
        R"("reason":"cpu 242m: the 95th percentile of 6.5 days of samples is 210m"})");
  CHECK(items[1].at("profile") == "default");
  CHECK(items[1].at("kills") == 2);
  CHECK(items[1].at("reason") ==
        "memory 1.2Gi: killed for memory 2 times, asks for at least 1.04Gi, plus 15 % margin");
}

TEST_CASE("with prices, what would be saved stands beside each item and in the summary",
          "[exporter][api]") {
  FakeDaemon daemon(ManyItems());
  daemon.prices = {.currency = "EUR", .cpu_core_hour = 0.03, .memory_gib_hour = 0.004};
  const Query one = {{"namespace", "shop"}, {"cluster", ""}, {"workload", "web"}};
  const double each = 2.2755 * 0.03 * 730;  // each of two containers
  const json::value data = Data(daemon.Get("/api/v1/recommendations", one));
  const json::array& items = data.at("recommendations").as_array();
  REQUIRE(items.size() == 4);
  CHECK(items[0].at("savings_per_month").as_double() == Approx(each));
  CHECK(items[0].at("workload_savings_per_month").as_double() == Approx(2 * each));
  // Memory has no request here, so nothing is saved by it; its workload's savings are known.
  CHECK_FALSE(items[1].as_object().contains("savings_per_month"));
  CHECK(items[1].at("workload_savings_per_month").as_double() == Approx(2 * each));
  CHECK(data.at("summary").at("currency") == "EUR");
  CHECK(data.at("summary").at("savings_per_month").as_double() == Approx(2 * each));

  // The summary is of all that matches, not of the page.
  const json::value page =
      Data(daemon.Get("/api/v1/recommendations", {{"cluster", "eu"}, {"limit", "1"}}));
  CHECK(page.at("recommendations").as_array().size() == 1);
  const json::value& cpu = page.at("summary").at("resources").at(0);
  CHECK(cpu.at("containers_known") == 16);
  CHECK(cpu.at("reclaimable").as_double() == Approx(16 * 2.2755));
  CHECK(page.at("summary").at("savings_per_month").as_double() == Approx(16 * each));
}

TEST_CASE("no workloads give an empty list", "[exporter][api]") {
  FakeDaemon daemon;
  CHECK(
      daemon.Get("/api/v1/recommendations").body ==
      R"({"status":"success","data":{"generation":0,"recommendations":[],"summary":{"resources":[)"
      R"({"resource":"cpu","unit":"core","containers_known":0,)"
      R"("containers":{"unknown":0,"absent":0,"under":0,"fitting":0,"over":0,"far_over":0}},)"
      R"({"resource":"memory","unit":"byte","containers_known":0,)"
      R"("containers":{"unknown":0,"absent":0,"under":0,"fitting":0,"over":0,"far_over":0}}]}}})");
}

TEST_CASE("filters can be given alone and together", "[exporter][api]") {
  FakeDaemon daemon(ManyItems());
  CHECK(Items(daemon, {}).size() == 48);
  CHECK(Items(daemon, {{"namespace", "shop"}}).size() == 32);
  CHECK(Items(daemon, {{"cluster", "eu"}}).size() == 32);
  CHECK(Items(daemon, {{"cluster", ""}}).size() == 16);
  CHECK(Items(daemon, {{"workload", "api"}}).size() == 24);
  CHECK(Items(daemon, {{"workload_type", "statefulset"}}).size() == 24);
  CHECK(Items(daemon, {{"container", "side"}}).size() == 24);
  CHECK(Items(daemon, {{"container", ""}}).empty());
  CHECK(Items(daemon, {{"resource", "memory"}}).size() == 24);
  CHECK(Items(daemon, {{"namespace", "sho"}}).empty());
  const json::array one = Items(daemon, {{"cluster", "eu"},
                                         {"namespace", "bank"},
                                         {"workload_type", "deployment"},
                                         {"workload", "web"},
                                         {"container", "side"},
                                         {"resource", "cpu"}});
  REQUIRE(one.size() == 1);
  CHECK(Identity(one[0]) == "eu|bank|deployment|web|side|cpu|");
}

TEST_CASE("walking the pages gives every item exactly once and in order", "[exporter][api]") {
  FakeDaemon daemon(ManyItems());
  std::vector<std::string> expected;
  for (const json::value& item : Items(daemon, {})) expected.push_back(Identity(item));
  for (const int limit : {1, 2, 7, 16, 47, 48, 49, 10000}) {
    for (const bool filtered : {false, true}) {
      std::vector<std::string> walked;
      std::string token;
      size_t pages = 0;
      do {
        Query query = {{"limit", std::to_string(limit)}};
        if (filtered) query.emplace_back("resource", "cpu");
        if (!token.empty()) query.emplace_back("page_token", token);
        const json::value data = Data(daemon.Get("/api/v1/recommendations", query));
        const json::array& items = data.at("recommendations").as_array();
        for (const json::value& item : items) walked.push_back(Identity(item));
        const json::value* next = data.as_object().if_contains("next");
        CHECK((next == nullptr || items.size() == static_cast<size_t>(limit)));
        token = next == nullptr ? "" : std::string(next->as_string().c_str());
        REQUIRE(++pages <= 48);
      } while (!token.empty());
      std::vector<std::string> wanted;
      std::copy_if(
          expected.begin(), expected.end(), std::back_inserter(wanted),
          [&](const std::string& identity) { return !filtered || identity.ends_with("|cpu|"); });
      INFO("limit " << limit);
      CHECK(walked == wanted);
      CHECK(pages == (wanted.size() + static_cast<size_t>(limit) - 1) / static_cast<size_t>(limit));
    }
  }
}

TEST_CASE("a page token stands its ground when the Snapshot changes", "[exporter][api]") {
  FakeDaemon before(ManyItems());
  const json::value data = Data(before.Get("/api/v1/recommendations", {{"limit", "20"}}));
  const std::string token(data.at("next").as_string().c_str());
  // The first namespace goes, another comes in front, and the item of the token goes too.
  Snapshot changed = ManyItems();
  changed.blocks[0] = MakeBlock("", "aaa", {{"job", "new"}}, {{"app", {FullCpuAdvice()}}});
  auto second = std::make_shared<NamespaceBlock>(*changed.blocks[1]);
  second->workloads.erase(second->workloads.begin());
  changed.blocks[1] = second;
  FakeDaemon after(changed);
  const json::array rest = Items(after, {{"page_token", token}});
  CHECK(rest.size() == 28);
  CHECK(Identity(rest.at(0)) == "eu|bank|deployment|web|app|cpu|");
}

TEST_CASE("page tokens carry any name", "[exporter][api]") {
  const ItemPosition position = {"", "n\"s", "process", "K\xC3\xB6ln\n", "", Resource::kGpuMemory};
  HttpRequest request;
  request.query = {{"page_token", EncodePageToken(position)}};
  const Result<RecommendationQuery> query = ParseRecommendationQuery(request);
  REQUIRE(query.has_value());
  CHECK(query->After() == position);
}

TEST_CASE("resources of the configuration's own are asked for, and paged, by their names",
          "[exporter][api]") {
  const auto names = std::make_shared<const ResourceTable>(
      std::vector<CustomResource>{{"network_receive", "byte_per_second"}});
  ResourceAdvice network;
  network.resource = Resource::kFirstCustom;
  network.recommended_request = 1.5e6;
  const auto block =
      MakeBlock("", "a", {{"job", "x"}, {"job", "y"}}, {{"", {MemoryAdvice(1), network}}});
  block->workloads[1].workload_class = WorkloadClass::kIdle;
  Snapshot snapshot = MakeSnapshot({block});
  snapshot.resources = names;
  FakeDaemon daemon(snapshot);
  const json::array found = Items(daemon, {{"resource", "network_receive"}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].at("resource") == "network_receive");
  CHECK(found[0].at("unit") == "byte_per_second");
  CHECK_FALSE(found[0].as_object().contains("class"));
  CHECK(found[1].at("class") == "idle");
  const std::string token =
      EncodePageToken({"", "a", "job", "x", "", Resource::kFirstCustom}, *names);
  CHECK(Items(daemon, {{"page_token", token}}).size() == 2);
}

TEST_CASE("a page has 1000 items unless more are asked for", "[exporter][api]") {
  std::vector<std::pair<std::string, std::string>> workloads;
  workloads.reserve(10001);
  for (int i = 0; i < 10001; ++i) workloads.emplace_back("job", std::to_string(100000 + i));
  FakeDaemon daemon(MakeSnapshot({MakeBlock("", "a", workloads, {{"app", {MemoryAdvice(1)}}})}));
  CHECK(Items(daemon, {}).size() == 1000);
  CHECK(Items(daemon, {{"limit", "10000"}}).size() == 10000);
}

TEST_CASE("wrong parameters are named together with what is allowed", "[exporter][api]") {
  FakeDaemon daemon(ManyItems());
  const auto get = [&](const Query& query) { return daemon.Get("/api/v1/recommendations", query); };
  CheckError(get({{"offset", "3"}}), 400, "bad_data",
             {"\"offset\" is unknown", "namespace", "page_token"});
  CheckError(get({{"", ""}}), 400, "bad_data", {"unknown"});
  CheckError(get({{"Namespace", "a"}}), 400, "bad_data", {"\"Namespace\" is unknown"});
  CheckError(get({{"namespace", "a"}, {"namespace", "a"}}), 400, "bad_data",
             {"\"namespace\"", "more than once"});
  CheckError(get({{"namespace", ""}}), 400, "bad_data", {"\"namespace\" is empty"});
  CheckError(get({{"workload", ""}}), 400, "bad_data", {"\"workload\" is empty"});
  CheckError(get({{"workload_type", ""}}), 400, "bad_data", {"\"workload_type\" is empty"});
  CheckError(get({{"resource", "CPU"}}), 400, "bad_data",
             {"\"resource\"", "cpu, memory, gpu_utilization, gpu_memory"});
  for (const char* limit :
       {"", "0", "-1", "10001", "1.5", "1e3", " 5", "5 ", "0x10", "99999999999999999999999"}) {
    CheckError(get({{"limit", limit}}), 400, "bad_data", {"\"limit\"", "1 to 10000"});
  }
  const std::string good = EncodePageToken({"", "a", "job", "b", "c", Resource::kCpu});
  CHECK(get({{"page_token", good}}).status == 200);
  for (const std::string& token :
       {std::string(), std::string("0"), std::string("zz"), std::string("00"),
        good.substr(0, good.size() - 2), good + good, std::string(5000, 'a')}) {
    CheckError(get({{"page_token", token}}), 400, "bad_data", {"\"page_token\"", "\"next\""});
  }
}

TEST_CASE("errors stay short and valid JSON whatever was sent", "[exporter][api]") {
  FakeDaemon daemon;
  const HttpResponse odd = daemon.Get("/api/v1/recommendations", {{"\xFF\"\n", "x"}});
  CheckError(odd, 400, "bad_data", {"unknown"});
  const HttpResponse long_one =
      daemon.Get("/api/v1/recommendations", {{std::string(100000, 'x'), ""}});
  CheckError(long_one, 400, "bad_data", {"xxx..."});
  CHECK(long_one.body.size() < 500);
}

TEST_CASE("error codes have their status and type", "[exporter][api]") {
  CheckError(ErrorAnswer({ErrorCode::kInvalidArgument, "m"}), 400, "bad_data", {"m"});
  CheckError(ErrorAnswer({ErrorCode::kNotFound, "m"}), 404, "not_found", {"m"});
  CheckError(ErrorAnswer({ErrorCode::kUnavailable, "m"}), 503, "unavailable", {"m"});
  CheckError(ErrorAnswer({ErrorCode::kIo, "m"}), 500, "internal", {"m"});
  CheckError(ErrorAnswer({ErrorCode::kInternal, "m"}), 500, "internal", {"m"});
}

TEST_CASE("amounts that are no numbers do not break the answer", "[exporter][api]") {
  FakeDaemon daemon(MakeSnapshot(
      {MakeBlock("", "a", {{"job", "x"}},
                 {{"app", {MemoryAdvice(std::numeric_limits<double>::quiet_NaN())}}})}));
  CHECK(Items(daemon, {}).at(0).at("recommended_request").is_null());
}

TEST_CASE("sources say what has come in and what is missing", "[exporter][api]") {
  Snapshot snapshot;
  snapshot.generation = 7;
  snapshot.sources = {{"cpu_usage", "a_total", 3, 1700000000000},
                      {"memory_usage", "b_bytes", 0, std::nullopt}};
  FakeDaemon daemon(snapshot);
  CHECK(
      daemon.Get("/api/v1/status/sources").body ==
      R"({"status":"success","data":{"generation":7,"sources":[)"
      R"({"role":"cpu_usage","metric":"a_total","series":3,"last_sample":"2023-11-14T22:13:20.000Z","missing":false},)"
      R"({"role":"memory_usage","metric":"b_bytes","series":0,"missing":true}]}})");
}

TEST_CASE("a workload says what it still lacks", "[exporter][api]") {
  FakeDaemon daemon;
  CHECK(
      daemon.Get("/api/v1/status/sources", {{"namespace", "shop"}, {"workload", "web"}}).body ==
      R"({"status":"success","data":{"workloads":[{"namespace":"shop","workload_type":"deployment","workload":"web",)"
      R"("has_recommendation":false,"prerequisites":[)"
      R"({"what":"cpu usage of container app","present":true,"last_sample":"2023-11-14T22:13:20.000Z"},)"
      R"({"what":"owner of the ReplicaSet","present":false,"hint":"send kube_replicaset_owner"}],"pods":[)"
      R"({"pod":"web-5c9-x","owner":"replicaset/web-5c9","workload":"deployment/web"},)"
      R"({"pod":"web-5c9-y","owner":"unknown: no kube_pod_owner yet"}]}]}})");
}

TEST_CASE("a workload says what a target of replicas still lacks", "[exporter][api][scaling]") {
  const auto status = [](const std::shared_ptr<const WorkloadScaling>& scaling) {
    const auto block = MakeBlock("", "shop", {{"deployment", "web"}}, {});
    block->workloads[0].scaling = scaling;
    FakeDaemon daemon(MakeSnapshot({block}));
    daemon.state.scaling_prerequisites = {
        {"replicas", true, 1700000000000, ""},
        {"bounds", false, std::nullopt, "send kube_horizontalpodautoscaler_info"},
        {"request of a pod", false, std::nullopt, "send requests"}};
    const std::string body =
        daemon.Get("/api/v1/status/sources", {{"namespace", "shop"}, {"workload", "web"}}).body;
    const size_t begin = body.find("\"scaling\":");
    REQUIRE(begin != std::string::npos);
    return body.substr(begin, body.find(",\"pods\"") - begin);
  };
  const std::string replicas =
      R"({"what":"replicas","present":true,"last_sample":"2023-11-14T22:13:20.000Z"})";
  const std::string missing =
      R"("prerequisites":[)" + replicas +
      R"(,{"what":"bounds","present":false,"hint":"send kube_horizontalpodautoscaler_info"})";
  const std::string no_request =
      R"(,{"what":"request of a pod","present":false,"hint":"send requests"}]})";
  CHECK(status(nullptr) == R"("scaling":{"has_target":false,)" + missing + no_request);

  CHECK(status(Shared(WithoutDecision("no_bounds"))) ==
        R"("scaling":{"has_target":false,"why":"no_bounds","sentence":"No target: neither a )"
        R"(HorizontalPodAutoscaler nor a rule of scaling.workloads says how many replicas there )"
        R"(may be.",)" +
            missing + no_request);
  // What a rule gives need not come in.
  const std::string whole = status(Shared(WholeScaling()));
  CHECK(whole.starts_with(R"("scaling":{"has_target":true,"sentence":"12 replicas (10 now): )"));
  CHECK(whole.ends_with(R"("prerequisites":[)" + replicas +
                        R"(,{"what":"bounds","present":true},)"
                        R"({"what":"request of a pod","present":true}]})"));
}

TEST_CASE("asking for a workload needs both names, and one that exists", "[exporter][api]") {
  FakeDaemon daemon;
  const auto get = [&](const Query& query) { return daemon.Get("/api/v1/status/sources", query); };
  CheckError(get({{"namespace", "shop"}}), 400, "bad_data", {"\"workload\"", "both"});
  CheckError(get({{"workload", "web"}}), 400, "bad_data", {"\"namespace\"", "both"});
  CheckError(get({{"namespace", ""}, {"workload", "web"}}), 400, "bad_data", {"\"namespace\""});
  CheckError(get({{"namespace", "shop"}, {"workload", "web"}, {"x", ""}}), 400, "bad_data",
             {"\"x\" is unknown", "namespace, workload"});
  CheckError(get({{"namespace", "shop"}, {"workload", "other"}}), 404, "not_found", {"other"});
  CheckError(get({{"namespace", "busy"}, {"workload", "web"}}), 503, "unavailable", {"busy"});
}

TEST_CASE("build, configuration and run-time are told as Prometheus tells them",
          "[exporter][api]") {
  FakeDaemon daemon(MakeSnapshot({}));
  daemon.engine.series_now = 5;
  daemon.engine.namespaces_now = 2;
  CHECK(daemon.Get("/api/v1/status/buildinfo").body ==
        R"({"status":"success","data":{"version":"1.2.3","revision":"abcdef","branch":"main",)"
        R"("compiler":"g++ 12.2.0"}})");
  CHECK(daemon.Get("/api/v1/status/config").body ==
        R"({"status":"success","data":{"yaml":"a: \"b\"\n"}})");
  const json::value data = Data(daemon.Get("/api/v1/status/runtimeinfo"));
  CHECK(data.at("startTime") == "2023-11-14T22:13:20.000Z");
  CHECK(data.at("serverTime") == "2023-11-14T22:13:40.000Z");
  CHECK(data.at("storagePath") == "/var/lib/tidemark");
  CHECK(data.at("timeSeriesCount") == 5);
  CHECK(data.at("namespaceCount") == 2);
  CHECK(data.at("snapshotGeneration") == 42);
  CHECK(data.at("snapshotAgeSeconds") == 5);
  CHECK_FALSE(data.at("CWD").as_string().empty());
}
