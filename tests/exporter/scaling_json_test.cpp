#include "exporter/scaling_json.h"

#include <boost/json.hpp>
#include <set>

#include "model/scaling_text.h"
#include "tests/catch.h"
#include "tests/exporter/daemon.h"
#include "tests/exporter/scaling_fakes.h"

using namespace tidemark;
using namespace tidemark::exporter;
namespace json = boost::json;

namespace {

std::string Written(const WorkloadScaling& scaling, Resource resource = Resource::kCpu) {
  JsonWriter json;
  WriteScaling(scaling, resource, ResourceTable(), json);
  std::string text = json.Take();
  CHECK_NOTHROW(boost::json::parse(text));
  return text;
}

/// Without its sentence, which comes first.
std::string Members(const WorkloadScaling& scaling) {
  const std::string text = Written(scaling);
  return "{" + text.substr(text.find(",\"policy\":") + 1);
}

json::object PolicyOf(ScalingPolicy policy) {
  WorkloadScaling scaling;
  scaling.policy = UsualSettings(policy);
  return json::parse(Written(scaling)).at("policy").as_object();
}

json::value Data(const HttpResponse& response) {
  INFO(response.body);
  REQUIRE(response.status == 200);
  return json::parse(response.body).at("data");
}

std::string ErrorOf(const HttpResponse& response, unsigned status) {
  CHECK(response.status == status);
  return std::string(json::parse(response.body).at("error").as_string().c_str());
}

/// Three clusters' namespaces: of shop's four workloads three are scaled, of bank's one.
FakeDaemon Cluster() {
  const auto shop = MakeBlock("", "shop",
                              {{"daemonset", "agent"},
                               {"deployment", "cart"},
                               {"deployment", "web"},
                               {"statefulset", "web"}},
                              {{"app", {FullCpuAdvice()}}, {"proxy", {FullCpuAdvice()}}});
  shop->workloads[1].scaling = Shared(WithoutDecision("no_request"));
  shop->workloads[2].scaling = Shared(WholeScaling());
  shop->workloads[3].scaling = Shared(WholeScaling());
  const auto bank = MakeBlock("eu", "bank", {{"deployment", "web"}}, {});
  bank->workloads[0].scaling = Shared(WholeScaling());
  return FakeDaemon(MakeSnapshot({shop, bank}));
}

std::string NamesOf(const json::value& data) {
  std::string names;
  for (const json::value& item : data.at("workloads").as_array()) {
    names += std::string(item.at("namespace").as_string().c_str()) + "/" +
             item.at("workload_type").as_string().c_str() + "/" +
             item.at("workload").as_string().c_str() + " ";
  }
  return names;
}

}  // namespace

TEST_CASE("a decision is written with all that it went by", "[exporter][scaling]") {
  CHECK(Written(WholeScaling()) ==
        R"({"sentence":"12 replicas (10 now): demand of 5.62 may reach 7.97 within 3 minutes; )"
        R"(12 pods of 750m keep that at 88.5 %, with the objective of more than 90 % in at most 2 )"
        R"(% of the time.","policy":{"name":"tidemark","slo_utilization_ratio":0.9,)"
        R"("slo_time_ratio":0.02,"tolerance_ratio":0.1,"window_seconds":180},)"
        R"("decision":{"target":12,"recommended":12,"reason":"risk","mode":"predictive",)"
        R"("load_ratio":0.75,"forecast_load_ratio":1.0625,"high_water_load_ratio":1.25,)"
        R"("target_utilization_ratio":0.5},"bounds":{"min":2,"max":20},"current_replicas":10,)"
        R"("resource":"cpu","unit":"core","demand":5.625,"request":0.75,)"
        R"("minute":"2023-11-14T22:13:00.000Z","startup_seconds":90,"startup_measured":true,)"
        R"("lead_seconds":180,"ready_pods":9,"missing_pods":1,"censored":false})");
}

TEST_CASE("every reason is written under its name, beside its sentence", "[exporter][scaling]") {
  std::set<std::string> sentences;
  for (size_t i = 0; i < 12; ++i) {
    WorkloadScaling scaling = WholeScaling();
    scaling.decision->reason = static_cast<DecisionReason>(i);
    const json::value written = json::parse(Written(scaling));
    const std::string_view reason = ToString(static_cast<DecisionReason>(i));
    CHECK(written.at("decision").at("reason").as_string() ==
          json::string_view(reason.data(), reason.size()));
    sentences.insert(std::string(written.at("sentence").as_string().c_str()));
  }
  CHECK(sentences.size() == 12);
}

TEST_CASE("what is not known of a decision is left out", "[exporter][scaling]") {
  CHECK(Members(WithoutDecision("no_bounds")) ==
        R"({"policy":{"name":"tidemark","slo_utilization_ratio":0.9,"slo_time_ratio":0.02,)"
        R"("tolerance_ratio":0.1,"window_seconds":180},"why":"no_bounds","resource":"cpu",)"
        R"("unit":"core","startup_seconds":120,"startup_measured":false,"lead_seconds":0,)"
        R"("missing_pods":0,"censored":false})");
  WorkloadScaling scaling = WholeScaling();
  scaling.decision->forecast_load_ratio.reset();
  scaling.decision->high_water_load_ratio.reset();
  scaling.decision->target_utilization_ratio = 0;
  CHECK(
      json::serialize(json::parse(Written(scaling)).at("decision")) ==
      R"({"target":12,"recommended":12,"reason":"risk","mode":"predictive","load_ratio":7.5E-1})");
}

TEST_CASE("a target that is served in place of the decided one is written beside it",
          "[exporter][scaling]") {
  WorkloadScaling scaling = WholeScaling();
  CHECK_FALSE(json::parse(Written(scaling)).as_object().contains("target_replicas"));
  scaling.escape_dead_band = true;
  scaling.base_kind = UtilizationBase::kOriginal;
  scaling.decision->target = 11;
  const json::value written = json::parse(Written(scaling));
  CHECK(written.at("decision").at("target") == 11);
  CHECK(written.at("target_replicas") == 12);
  CHECK(written.at("decided_replicas") == 11);
  CHECK(written.at("escaped") == true);
  CHECK(written.at("base") == "original");
}

TEST_CASE("the scale point of an autoscaler is written with what to set", "[exporter][scaling]") {
  WorkloadScaling scaling = WithoutDecision("disabled");
  CHECK_FALSE(json::parse(Written(scaling)).as_object().contains("utilization_targets"));
  scaling.utilization_targets = {WholeUtilization()};
  const json::value written = json::parse(Written(scaling));
  const json::object& target = written.at("utilization_targets").at(0).as_object();
  CHECK(target.at("autoscaler") == "web");
  CHECK(target.at("resource") == "cpu");
  CHECK(target.at("unit") == "core");
  CHECK(target.at("target_utilization_ratio").to_number<double>() == 0.5);
  CHECK(target.at("scale_point_original").to_number<double>() == 1.5);
  CHECK(target.at("scale_point_current").to_number<double>() == 1);
  CHECK(target.at("scale_point_recommended").to_number<double>() == 0.75);
  CHECK(target.at("preserving_target_ratio").to_number<double>() == 1);
  CHECK(std::string(target.at("sentence").as_string().c_str()) ==
        UtilizationTargetText(scaling.utilization_targets[0]));
}

TEST_CASE("of a policy that is written which it reads", "[exporter][scaling]") {
  const auto keys = [](ScalingPolicy policy) {
    std::string out;
    for (const auto& member : PolicyOf(policy)) out += std::string(member.key()) + " ";
    return out;
  };
  constexpr const char* kHpa = "name target_utilization_ratio tolerance_ratio window_seconds ";
  CHECK(keys(ScalingPolicy::kHpa) == kHpa);
  CHECK(keys(ScalingPolicy::kArimaHpa) == kHpa);
  CHECK(keys(ScalingPolicy::kLstmHpa) == kHpa);
  CHECK(keys(ScalingPolicy::kBiLstmHpa) == kHpa);
  CHECK(keys(ScalingPolicy::kEvtBiLstmHpa) ==
        "name target_utilization_ratio high_water_risk tolerance_ratio window_seconds ");
  CHECK(keys(ScalingPolicy::kDebi) ==
        "name utilization_low_ratio utilization_high_ratio high_water_risk tolerance_ratio "
        "window_seconds ");
  CHECK(keys(ScalingPolicy::kDebiPaper) == keys(ScalingPolicy::kDebi));
  CHECK(PolicyOf(ScalingPolicy::kDebiPaper).at("high_water_risk") == 0.1);
}

TEST_CASE("all workloads that are scaled stand in a list", "[exporter][scaling]") {
  FakeDaemon daemon = Cluster();
  const json::value data = Data(daemon.Get("/api/v1/scaling"));
  CHECK(data.at("generation") == 42);
  CHECK(data.at("published") == "2023-11-14T22:13:35.000Z");
  CHECK_FALSE(data.as_object().contains("next"));
  CHECK(NamesOf(data) ==
        "shop/deployment/cart shop/deployment/web shop/statefulset/web bank/deployment/web ");
  CHECK(json::serialize(data.at("workloads").at(0)) ==
        R"({"namespace":"shop","workload_type":"deployment","workload":"cart",)"
        R"("policy":"tidemark","why":"no_request","sentence":"No target: what one of its pods )"
        R"(requests is not known; set a request, or base in scaling.workloads."})");
  const json::object& bank = data.at("workloads").at(3).as_object();
  json::object brief = bank;
  CHECK(brief.at("sentence").as_string().starts_with("12 replicas (10 now): "));
  brief.erase("sentence");
  CHECK(json::serialize(brief).find("sentence") == std::string::npos);
  CHECK(bank.at("cluster") == "eu");
  CHECK(bank.at("target_replicas") == 12);
  CHECK(bank.at("recommended_replicas") == 12);
  CHECK(bank.at("current_replicas") == 10);
  CHECK(bank.at("min_replicas") == 2);
  CHECK(bank.at("max_replicas") == 20);
  CHECK(bank.at("reason") == "risk");
  CHECK(bank.at("mode") == "predictive");
  CHECK(bank.at("minute") == "2023-11-14T22:13:00.000Z");
  CHECK_FALSE(bank.contains("why"));
}

TEST_CASE("the list is filtered and paged as recommendations are", "[exporter][scaling]") {
  FakeDaemon daemon = Cluster();
  using Query = std::vector<std::pair<std::string, std::string>>;
  const auto names = [&](const Query& query) {
    return NamesOf(Data(daemon.Get("/api/v1/scaling", query)));
  };
  CHECK(names({{"namespace", "bank"}}) == "bank/deployment/web ");
  CHECK(names({{"workload", "web"}, {"workload_type", "deployment"}}) ==
        "shop/deployment/web bank/deployment/web ");
  CHECK(names({{"cluster", ""}, {"workload", "web"}}) ==
        "shop/deployment/web shop/statefulset/web ");
  CHECK(names({{"workload", "agent"}}).empty());

  for (const char* limit : {"1", "2", "3"}) {
    std::string walked;
    Query query = {{"limit", limit}};
    for (int pages = 0; pages < 9; ++pages) {
      const json::value data = Data(daemon.Get("/api/v1/scaling", query));
      walked += NamesOf(data);
      const json::value* next = data.as_object().if_contains("next");
      if (next == nullptr) break;
      query = {{"limit", limit}, {"page_token", std::string(next->as_string().c_str())}};
    }
    CHECK(walked ==
          "shop/deployment/cart shop/deployment/web shop/statefulset/web bank/deployment/web ");
  }
  CHECK(ErrorOf(daemon.Get("/api/v1/scaling", {{"container", "app"}}), 400) ==
        "parameter \"container\" is unknown; allowed are cluster, namespace, workload_type, "
        "workload, limit, page_token");
  CHECK(ErrorOf(daemon.Get("/api/v1/scaling", {{"limit", "0"}}), 400).find("from 1 to 10000") !=
        std::string::npos);
  CHECK(ErrorOf(daemon.Get("/api/v1/scaling", {{"page_token", "zz"}}), 400)
            .find("is not one of ours") != std::string::npos);
  daemon.ready = false;
  CHECK(ErrorOf(daemon.Get("/api/v1/scaling"), 503).find("not ready") != std::string::npos);
}

TEST_CASE("a workload shows how many replicas it should have, in the unit of its demand",
          "[exporter][scaling][workload]") {
  const auto block = MakeBlock("", "shop", {{"deployment", "web"}}, {});
  block->workloads[0].scaling = Shared(WholeScaling());
  FakeDaemon daemon(MakeSnapshot({block}));
  WorkloadExplanation& web = daemon.state.explanations.emplace_back();
  web.id = {"", "shop", "deployment", "web"};
  web.replicas = 3;
  const auto shown = [&] {
    return Data(daemon.Get("/api/v1/workloads/shop/deployment/web")).at("workloads").at(0);
  };
  CHECK(shown().at("scaling").at("decision").at("target") == 12);
  CHECK(shown().at("scaling").at("unit") == "core");

  ForecastExplanation& forecast = web.forecast.emplace();
  forecast.now = WholeForecast();
  forecast.now.resource = Resource::kMemory;
  CHECK(shown().at("scaling").at("unit") == "byte");
  // The same base as the decision's.
  CHECK(shown().at("forecast").at("request") == 0.75);
  CHECK(shown().at("forecast").at("load_ratio") == 0.4);
  CHECK(shown().at("forecast").at("high_water").at("load_ratio") == 0.8);

  web.id.workload = "other";  // came after the last tick
  web.scaling = WithoutDecision("no_demand");
  CHECK(shown().at("scaling").at("why") == "no_demand");
  web.scaling.reset();
  CHECK_FALSE(shown().as_object().contains("scaling"));
  CHECK(shown().at("forecast").at("load_ratio") == 2);
}
