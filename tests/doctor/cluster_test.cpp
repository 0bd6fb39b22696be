// What is told of the objects in the cluster.

#include <boost/json/serialize.hpp>

#include "cmd/base64.h"
#include "cmd/doctor/api_service.h"
#include "cmd/doctor/checks.h"
#include "tests/doctor/fake_world.h"

namespace tidemark::doctor {
namespace {

using server::MadeCertificate;

const std::string kApiServices = std::string(kApiServicesPath);
const std::string kApiService = kApiServices + "/" + std::string(kApiServiceName);
const std::string kConfigMap =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
const std::string kWebhooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const std::string kAutoscalers = "/apis/autoscaling/v2/horizontalpodautoscalers";
const std::string kReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// A text with ' for ".
std::string Quoted(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

const MadeCertificate& Ca() {
  static const MadeCertificate ca({.name = "ca", .ca = true, .valid_days = 400});
  return ca;
}

struct World {
  World() {
    const MadeCertificate served(
        {.name = "tidemark", .sans = {"DNS:tidemark.tidemark.svc"}, .issuer = &Ca()});
    installation.kubernetes = &kubernetes;
    installation.served = ChainOf(served);
    installation.now_ms = NowMs();
    kubernetes.Answer("/version", Quoted("{'major':'1','minor':'35','gitVersion':'v1.35.0'}"));
    kubernetes.Answer("/apis/external.metrics.k8s.io/v1beta1",
                      Quoted("{'resources':[{'name':'tidemark_target_replicas'}]}"));
  }
  static std::string Bundle() { return cmd::EncodeBase64(Ca().certificate()); }
  /// `spec`: what stands beside the Service; empty: a good caBundle.
  void ServeApiService(const std::string& service, const std::string& spec = "",
                       const std::string& condition = "'status':'True'",
                       const std::string& labels = "") {
    kubernetes.Answer(
        kApiService, Quoted("{'metadata':{'resourceVersion':'7','labels':{" + labels +
                            "}},'spec':{'service':" + service +
                            (spec.empty() ? ",'caBundle':'" + Bundle() + "'" : spec) +
                            "},'status':{'conditions':[{'type':'Available'," + condition + "}]}}"));
  }
  FakeAsker kubernetes;
  Installation installation;
};

const std::string kOurs = "{'namespace':'tidemark','name':'tidemark','port':443}";
const std::string kKeda = "{'namespace':'keda','name':'keda-operator-metrics-apiserver'}";

}  // namespace

TEST_CASE("the version of the cluster is told", "[doctor][kubernetes]") {
  World world;
  CHECK(Has(TextOf(CheckKubernetes(world.installation), "kubernetes.version"), "v1.35.0"));
  world.kubernetes.Refuse("/version", 401);
  CHECK(VerdictOf(CheckKubernetes(world.installation), "kubernetes.version") == "problem");
  world.kubernetes.Answer("/version", "[]");
  CHECK(VerdictOf(CheckKubernetes(world.installation), "kubernetes.version") == "problem");
  CHECK(VerdictOf(CheckKubernetes({}), "kubernetes.version") == "skipped");
}

TEST_CASE("an API that does not answer is asked once", "[doctor][kubernetes]") {
  World world;
  world.kubernetes.Refuse("/version", 0);
  const Findings findings = CheckAll(world.installation);
  CHECK(VerdictOf(findings, "kubernetes.version") == "problem");
  CHECK(VerdictOf(findings, "apiservice.owner") == "skipped");
  CHECK(world.kubernetes.asked.size() == 1);
}

TEST_CASE("an APIService of our own that works is found good", "[doctor][apiservice]") {
  World world;
  world.ServeApiService(kOurs);
  const Findings findings = CheckApiService(world.installation);
  CHECK(findings.all().size() == 4);
  CHECK(findings.Count(Verdict::kOk) == 4);
}

TEST_CASE("who owns a foreign APIService is told with the choices", "[doctor][apiservice]") {
  World world;
  world.kubernetes.Answer("/apis/external.metrics.k8s.io/v1beta1",
                          Quoted("{'resources':[{'name':'externalmetrics'}]}"));
  const auto owner = [&](const std::string& service, const std::string& labels = "") {
    world.ServeApiService(service, "", "'status':'True'", labels);
    const Findings findings = CheckApiService(world.installation);
    CHECK(VerdictOf(findings, "apiservice.owner") == "problem");
    return TextOf(findings, "apiservice.owner");
  };
  CHECK(Has(owner(kKeda), "KEDA (Service keda/keda-operator-metrics-apiserver)"));
  CHECK(Has(owner(kKeda), "--force-take-apiservice"));
  CHECK(Has(owner("{'namespace':'monitoring','name':'prometheus-adapter'}"), "prometheus-adapter"));
  CHECK(Has(owner("{'namespace':'dd','name':'metrics'}",
                  "'app.kubernetes.io/name':'datadog-cluster-agent'"),
            "Datadog"));
  CHECK(Has(owner("{'namespace':'custom-metrics','name':'custom-metrics-stackdriver-adapter'}"),
            "Stackdriver"));
  CHECK(Has(owner("{'namespace':'crane-system','name':'metric-adapter'}"), "Crane"));
  CHECK(Has(owner("{'namespace':'a','name':'b'}"), "the Service a/b"));
  CHECK(Has(owner("null"), "kube-apiserver itself"));
}

TEST_CASE("a foreign APIService is as it should be where our metrics go through it",
          "[doctor][apiservice]") {
  World world;
  world.ServeApiService("{'namespace':'monitoring','name':'prometheus-adapter'}");
  const Findings passed_on = CheckApiService(world.installation);
  CHECK(VerdictOf(passed_on, "apiservice.owner") == "ok");
  CHECK(Has(TextOf(passed_on, "apiservice.owner"), "prometheus-adapter"));

  world.ServeApiService(kKeda);
  world.kubernetes.Answer("/apis/external.metrics.k8s.io/v1beta1",
                          Quoted("{'resources':[{'name':'externalmetrics'}]}"));
  const auto scaled_by = [&](const std::string& metadata) {
    world.kubernetes.Answer("/apis/keda.sh/v1alpha1/scaledobjects",
                            Quoted("{'items':[{'spec':{'triggers':[{'type':'cron','metadata':{}},"
                                   "{'metadata':{" +
                                   metadata + "}}]}}]}"));
    return VerdictOf(CheckApiService(world.installation), "apiservice.owner");
  };
  CHECK(scaled_by("'valueLocation':'tidemark_target_replicas{}'") == "ok");
  CHECK(scaled_by("'query':'max(tidemark_target_replicas)','threshold':1") == "ok");
  CHECK(scaled_by("'query':'sum(rate(requests_total[1m]))'") == "problem");
}

TEST_CASE("why an APIService is not available is explained", "[doctor][apiservice]") {
  World world;
  const auto text = [&](const std::string& reason) {
    world.ServeApiService(kOurs, "",
                          "'status':'False','reason':'" + reason + "','message':'the message'");
    const Findings findings = CheckApiService(world.installation);
    CHECK(VerdictOf(findings, "apiservice.available") == "problem");
    CHECK(Has(TextOf(findings, "apiservice.available"), "the message"));
    return TextOf(findings, "apiservice.available");
  };
  CHECK(Has(text("FailedDiscoveryCheck"), "NetworkPolicy"));
  CHECK(Has(text("MissingEndpoints"), "no ready pod"));
  CHECK(Has(text("ServiceNotFound"), "does not exist"));
  CHECK(Has(text("ServicePortError"), "port"));
  CHECK(Has(text("SomethingNew"), "SomethingNew"));
  world.ServeApiService(kOurs, "", "'status':'True'},{'type':'x'");
  CHECK(VerdictOf(CheckApiService(world.installation), "apiservice.available") == "ok");
}

TEST_CASE("the caBundle is held against what is served", "[doctor][apiservice]") {
  World world;
  const auto verdict = [&](const std::string& spec) {
    world.ServeApiService(kOurs, spec);
    return VerdictOf(CheckApiService(world.installation), "apiservice.ca_bundle");
  };
  const MadeCertificate other({.name = "other", .ca = true});
  CHECK(verdict(",'caBundle':'" + cmd::EncodeBase64(other.certificate()) + "'") == "problem");
  CHECK(verdict(",'caBundle':'AAAA'") == "problem");
  CHECK(verdict(",'caBundle':'-'") == "problem");
  CHECK(verdict(",'caBundle':''") == "warning");
  CHECK(verdict(",'insecureSkipTLSVerify':true") == "warning");
  world.installation.served.reset();
  CHECK(verdict("") == "skipped");
}

TEST_CASE("what kube-apiserver answers for the metrics is looked at", "[doctor][apiservice]") {
  World world;
  world.ServeApiService(kOurs);
  const auto verdict = [&] {
    return VerdictOf(CheckApiService(world.installation), "apiservice.answers");
  };
  const std::string group = "/apis/external.metrics.k8s.io/v1beta1";
  world.kubernetes.Answer(group, Quoted("{'resources':[{'name':'queue_length'}]}"));
  CHECK(verdict() == "problem");
  world.kubernetes.Refuse(group, 503);
  CHECK(verdict() == "problem");
  world.kubernetes.Refuse(group, 403);
  CHECK(verdict() == "skipped");
  world.kubernetes.Refuse(kApiService, 404);
  CHECK(Has(TextOf(CheckApiService(world.installation), "apiservice.owner"), "does not exist"));
  world.kubernetes.Refuse(kApiService, 403);
  CHECK(VerdictOf(CheckApiService(world.installation), "apiservice.owner") == "skipped");
  CHECK(VerdictOf(CheckApiService({}), "apiservice.owner") == "skipped");
}

TEST_CASE("an APIService is created where there is none", "[doctor][take]") {
  World world;
  world.kubernetes.Answer(kApiServices, "{}", "POST");
  const auto done = TakeApiService(world.kubernetes, {}, Ca().certificate(), false);
  INFO((done ? "" : done.error().message));
  REQUIRE(done);
  CHECK(Has(*done, "created"));
  const auto body = boost::json::parse(world.kubernetes.asked.back().body);
  CHECK(body.at("metadata").at("name") == "v1beta1.external.metrics.k8s.io");
  CHECK(body.at("spec").at("service").at("namespace") == "tidemark");
  CHECK(body.at("spec").at("caBundle").as_string() == world.Bundle());
}

TEST_CASE("a foreign APIService is left alone unless it is told to be taken", "[doctor][take]") {
  World world;
  world.ServeApiService(kKeda, ",'insecureSkipTLSVerify':true,'groupPriorityMinimum':2000",
                        "'status':'True'", "'app':'keda'");
  world.kubernetes.Answer(kApiService, "{}", "PUT");
  const auto refused = TakeApiService(world.kubernetes, {}, Ca().certificate(), false);
  REQUIRE_FALSE(refused);
  CHECK(Has(refused.error().message, "KEDA"));
  CHECK(Has(refused.error().message, "--force-take-apiservice"));
  for (const client::Request& request : world.kubernetes.asked) CHECK(request.method == "GET");

  const auto taken = TakeApiService(world.kubernetes, {}, Ca().certificate(), true);
  INFO((taken ? "" : taken.error().message));
  REQUIRE(taken);
  CHECK(Has(*taken, "from KEDA"));
  const client::Request& put = world.kubernetes.asked.back();
  CHECK(put.method == "PUT");
  const auto body = boost::json::parse(put.body);
  // A change of somebody else's meanwhile must be an error.
  CHECK(body.at("metadata").at("resourceVersion") == "7");
  CHECK(body.at("spec").at("service").at("name") == "tidemark");
  CHECK(body.at("spec").at("groupPriorityMinimum") == 100);
  CHECK_FALSE(body.at("spec").as_object().contains("insecureSkipTLSVerify"));
}

TEST_CASE("our own APIService gets the authority of today and keeps its priorities",
          "[doctor][take]") {
  World world;
  world.ServeApiService(kOurs, ",'caBundle':'AAAA','groupPriorityMinimum':500,'versionPriority':9");
  world.kubernetes.Answer(kApiService, "{}", "PUT");
  const auto done = TakeApiService(world.kubernetes, {}, Ca().certificate(), false);
  REQUIRE(done);
  const auto body = boost::json::parse(world.kubernetes.asked.back().body);
  CHECK(body.at("spec").at("caBundle").as_string() == world.Bundle());
  CHECK(body.at("spec").at("groupPriorityMinimum") == 500);
  CHECK(body.at("spec").at("versionPriority") == 9);
  world.kubernetes.Refuse(kApiService, 409, "PUT");
  CHECK_FALSE(TakeApiService(world.kubernetes, {}, "", false));
  world.kubernetes.Refuse(kApiService, 403);
  CHECK(Has(TakeApiService(world.kubernetes, {}, "", true).error().message, "apiservices"));
  world.kubernetes.Answer(kApiService, "[]");
  CHECK_FALSE(TakeApiService(world.kubernetes, {}, "", true));
}

TEST_CASE("who front proxies are is judged", "[doctor][front_proxy]") {
  World world;
  const MadeCertificate users({.name = "users", .ca = true, .valid_days = 400});
  const MadeCertificate soon({.name = "soon", .ca = true, .valid_days = 3});
  const auto check = [&](const MadeCertificate& proxy, const MadeCertificate& user,
                         const std::string& names) {
    const auto escaped = [](const std::string& pem) {
      return boost::json::serialize(boost::json::value(pem));
    };
    world.kubernetes.Answer(
        kConfigMap, R"({"data":{"requestheader-client-ca-file":)" + escaped(proxy.certificate()) +
                        R"(,"client-ca-file":)" + escaped(user.certificate()) +
                        R"(,"requestheader-username-headers":"[\"X-Remote-User\"]",)"
                        R"("requestheader-allowed-names":")" +
                        names + "\"}}");
    return CheckFrontProxy(world.installation);
  };
  const std::string name = R"([\"front-proxy-client\"])";
  const Findings good = check(Ca(), users, name);
  CHECK(good.Count(Verdict::kOk) == 3);
  CHECK(VerdictOf(check(Ca(), users, "[]"), "front_proxy.names") == "ok");
  CHECK(VerdictOf(check(users, users, name), "front_proxy.names") == "warning");
  CHECK(VerdictOf(check(users, users, "[]"), "front_proxy.names") == "problem");
  CHECK(VerdictOf(check(soon, users, name), "front_proxy.authority") == "warning");
  world.installation.now_ms += 800LL * 86'400'000;
  CHECK(VerdictOf(check(Ca(), users, name), "front_proxy.authority") == "problem");
  CHECK(VerdictOf(check(Ca(), users, "front-proxy-client"), "front_proxy.config_map") == "problem");
  world.kubernetes.Refuse(kConfigMap, 403);
  const Findings forbidden = CheckFrontProxy(world.installation);
  CHECK(VerdictOf(forbidden, "front_proxy.config_map") == "skipped");
  CHECK(Has(TextOf(forbidden, "front_proxy.config_map"), "RoleBinding"));
  world.kubernetes.Refuse(kConfigMap, 404);
  CHECK(VerdictOf(CheckFrontProxy(world.installation), "front_proxy.config_map") == "problem");
}

TEST_CASE("a webhook that could do harm is told", "[doctor][webhook]") {
  World world;
  const auto check = [&](const std::string& webhook) {
    world.kubernetes.Answer(
        kWebhooks, Quoted("{'items':[{'webhooks':[{'name':'foreign','clientConfig':{'url':'x'}},"
                          "{'name':'w'," +
                          webhook + "}]}]}"));
    return CheckWebhook(world.installation);
  };
  const std::string client =
      "'clientConfig':{'service':" + kOurs + ",'caBundle':'" + World::Bundle() + "'}";
  const std::string excluded =
      "'namespaceSelector':{'matchExpressions':[{'key':'kubernetes.io/metadata.name',"
      "'operator':'NotIn','values':['kube-system']}]}";
  const Findings good = check(client + ",'failurePolicy':'Ignore','timeoutSeconds':2," + excluded);
  CHECK(good.Count(Verdict::kOk) == 4);
  CHECK(good.all().size() == 4);

  const Findings bad = check("'clientConfig':{'service':" + kOurs + "}");
  CHECK(VerdictOf(bad, "webhook.failure_policy") == "problem");
  CHECK(VerdictOf(bad, "webhook.timeout") == "warning");
  CHECK(VerdictOf(bad, "webhook.ca_bundle") == "problem");
  CHECK(VerdictOf(bad, "webhook.selector") == "problem");

  const MadeCertificate other({.name = "other", .ca = true});
  CHECK(VerdictOf(check("'clientConfig':{'service':" + kOurs + ",'caBundle':'" +
                        cmd::EncodeBase64(other.certificate()) + "'}"),
                  "webhook.ca_bundle") == "problem");
  // Chosen by a label that kube-system does, or does not, carry.
  const std::string opted = client + ",'namespaceSelector':{'matchLabels':{'rightsize':'yes'}}";
  CHECK(VerdictOf(check(opted), "webhook.selector") == "ok");
  world.kubernetes.Answer("/api/v1/namespaces/kube-system",
                          Quoted("{'metadata':{'labels':{'rightsize':'yes'}}}"));
  CHECK(VerdictOf(check(opted), "webhook.selector") == "problem");
  for (const auto& [expression, verdict] :
       {std::pair("{'key':'rightsize','operator':'Exists'}", "problem"),
        std::pair("{'key':'rightsize','operator':'DoesNotExist'}", "ok"),
        std::pair("{'key':'rightsize','operator':'In','values':['yes']}", "problem"),
        std::pair("{'key':'rightsize','operator':'Like','values':['yes']}", "ok")}) {
    INFO(expression);
    CHECK(
        VerdictOf(check(client + ",'namespaceSelector':{'matchExpressions':[" + expression + "]}"),
                  "webhook.selector") == verdict);
  }
  CHECK(VerdictOf(check("'clientConfig':{}"), "webhook.configuration") == "ok");
  world.kubernetes.Refuse(kWebhooks, 403);
  CHECK(VerdictOf(CheckWebhook(world.installation), "webhook.configuration") == "skipped");
}

namespace {

std::string Autoscaler(const std::string& selector, const std::string& target,
                       const std::string& behavior, int max, const std::string& more = "") {
  return Quoted(
      "{'metadata':{'namespace':'shop','name':'web'},'spec':{'maxReplicas':" + std::to_string(max) +
      ",'scaleTargetRef':{'kind':'Deployment','name':'web'},'behavior':{" + behavior +
      "},'metrics':[{'type':'External','external':{'metric':{'name':"
      "'tidemark_target_replicas'" +
      (selector.empty() ? "" : ",'selector':" + selector) + "},'target':" + target + "}}" + more +
      "]}}");
}

const std::string kWeb = "{'matchLabels':{'workload':'web','workload_type':'deployment'}}";
const std::string kOne = "{'type':'AverageValue','averageValue':'1'}";
const std::string kExact = "'scaleUp':{'tolerance':'0'},'scaleDown':{'tolerance':'0'}";

}  // namespace

TEST_CASE("HPAs that go by Tidemark are looked at", "[doctor][autoscalers]") {
  World world;
  FakeAsker tidemark;
  world.installation.tidemark = &tidemark;
  tidemark.Answer("/api/v1/status/sources",
                  Quoted("{'data':{'workloads':[{'workload_type':'deployment','workload':'web',"
                         "'scaling':{'has_target':true}}]}}"));
  const auto check = [&](const std::string& items) {
    world.kubernetes.Answer(kAutoscalers, "{\"items\":[" + items + "]}");
    return CheckAutoscalers(world.installation);
  };
  const Findings good = check(Autoscaler(kWeb, kOne, kExact, 60));
  CHECK(good.all().size() == 1);
  CHECK(Has(TextOf(good, "autoscalers.found"), "1 of 1"));

  CHECK(VerdictOf(check(Autoscaler(kWeb, kOne, "", 60)), "autoscalers.tolerance") == "warning");
  CHECK(VerdictOf(check(Autoscaler(kWeb, kOne, "'scaleUp':{'tolerance':'0'}", 60)),
                  "autoscalers.tolerance") == "warning");
  CHECK(VerdictOf(check(Autoscaler(kWeb, kOne, "", 9)), "autoscalers.tolerance") == "absent");
  CHECK(Has(TextOf(check(Autoscaler(kWeb, kOne, "", 60)), "autoscalers.tolerance"),
            "behavior.scaleUp.tolerance"));
  world.kubernetes.Answer("/version", Quoted("{'major':'1','minor':'27+'}"));
  CHECK(Has(TextOf(check(Autoscaler(kWeb, kOne, "", 60)), "autoscalers.tolerance"),
            "escape_dead_band"));

  const auto target = [&](const std::string& text) {
    return VerdictOf(check(Autoscaler(kWeb, text, kExact, 5)), "autoscalers.target");
  };
  CHECK(target("{'type':'Value','value':'1'}") == "problem");
  CHECK(target("{'type':'AverageValue','averageValue':'1000m'}") == "absent");
  CHECK(target("{'type':'AverageValue','averageValue':'2'}") == "problem");
  CHECK(VerdictOf(check(Autoscaler("", kOne, kExact, 5)), "autoscalers.selector") == "problem");
  CHECK(VerdictOf(check(Autoscaler("{'matchLabels':{'workload':'api'}}", kOne, kExact, 5)),
                  "autoscalers.workload") == "problem");

  tidemark.Refuse("/api/v1/status/sources", 404);
  CHECK(Has(TextOf(check(Autoscaler(kWeb, kOne, kExact, 5)), "autoscalers.served"),
            "no such workload"));
  tidemark.Answer("/api/v1/status/sources",
                  Quoted("{'data':{'workloads':[{'workload_type':'deployment','scaling':{"
                         "'has_target':false,'sentence':'No target: no bounds.'}}]}}"));
  CHECK(Has(TextOf(check(Autoscaler(kWeb, kOne, kExact, 5)), "autoscalers.served"), "no bounds"));

  // Many with the same trouble are told once.
  std::string many = Autoscaler("", kOne, kExact, 5);
  for (int i = 0; i < 9; ++i) many += "," + Autoscaler("", kOne, kExact, 5);
  CHECK(Has(TextOf(check(many), "autoscalers.selector"), "and 7 more"));
  CHECK(Has(TextOf(check(""), "autoscalers.found"), "0 of 0"));
  world.kubernetes.Refuse(kAutoscalers, 403);
  CHECK(VerdictOf(CheckAutoscalers(world.installation), "autoscalers.found") == "skipped");
}

TEST_CASE("without Tidemark's web port kube-apiserver is asked as the HPA asks",
          "[doctor][autoscalers]") {
  World world;
  world.kubernetes.Answer(kAutoscalers, "{\"items\":[" + Autoscaler(kWeb, kOne, kExact, 5) + "]}");
  const std::string path =
      "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/tidemark_target_replicas";
  CHECK(VerdictOf(CheckAutoscalers(world.installation), "autoscalers.served") == "problem");
  world.kubernetes.Answer(path, "{}");
  CHECK(VerdictOf(CheckAutoscalers(world.installation), "autoscalers.served") == "absent");
  const auto asked =
      std::find_if(world.kubernetes.asked.begin(), world.kubernetes.asked.end(),
                   [&](const client::Request& request) { return request.path == path; });
  REQUIRE(asked != world.kubernetes.asked.end());
  CHECK(asked->query.front().second == "workload=web,workload_type=deployment");
}

TEST_CASE("HPAs on utilisation of requests that are corrected get a hint",
          "[doctor][autoscalers]") {
  World world;
  const std::string resource =
      ",{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization'}}}";
  world.kubernetes.Answer(kAutoscalers,
                          "{\"items\":[" + Autoscaler(kWeb, kOne, kExact, 5, resource) + "]}");
  CHECK(VerdictOf(CheckAutoscalers(world.installation), "autoscalers.utilization") == "absent");
  world.kubernetes.Answer(
      kWebhooks,
      Quoted("{'items':[{'webhooks':[{'name':'w','clientConfig':{'service':" + kOurs + "}}]}]}"));
  CHECK(VerdictOf(CheckAutoscalers(world.installation), "autoscalers.utilization") == "warning");
}

TEST_CASE("a list of many pages is read to its end", "[doctor][autoscalers]") {
  World world;
  world.kubernetes.handler = [&](const client::Request& request) -> Reply {
    if (request.path != kAutoscalers) return {.status = 404, .trouble = "x"};
    const bool first = request.query.size() == 1;
    return {.status = 200,
            .body = Quoted("{'metadata':{'continue':'" + std::string(first ? "next" : "") +
                           "'},'items':[") +
                    Autoscaler("", kOne, kExact, 5) + "]}"};
  };
  CHECK(Has(TextOf(CheckAutoscalers(world.installation), "autoscalers.found"), "2 of 2"));
}

TEST_CASE("whether the HPA controller may read metrics is asked", "[doctor][rbac]") {
  World world;
  const auto answer = [&](const std::string& allowed_user) {
    world.kubernetes.handler = [allowed_user](const client::Request& request) -> Reply {
      const auto review = boost::json::parse(request.body);
      CHECK(request.path == kReviews);
      const std::string user(review.at("spec").at("user").as_string());
      return {.status = 201,
              .body = user == allowed_user ? R"({"status":{"allowed":true}})"
                                           : R"({"status":{"allowed":false}})"};
    };
    return CheckAccess(world.installation);
  };
  const Findings by_account = answer("system:serviceaccount:kube-system:horizontal-pod-autoscaler");
  CHECK(VerdictOf(by_account, "rbac.autoscaler") == "ok");
  CHECK(VerdictOf(by_account, "rbac.config_map") == "warning");
  CHECK(VerdictOf(answer("system:kube-controller-manager"), "rbac.autoscaler") == "ok");
  CHECK(VerdictOf(answer("system:serviceaccount:tidemark:tidemark"), "rbac.config_map") == "ok");
  CHECK(VerdictOf(answer("nobody"), "rbac.autoscaler") == "problem");
  world.kubernetes.handler = nullptr;
  world.kubernetes.Refuse(kReviews, 403, "POST");
  const Findings refused = CheckAccess(world.installation);
  CHECK(VerdictOf(refused, "rbac.autoscaler") == "skipped");
  CHECK(Has(TextOf(refused, "rbac.autoscaler"), "subjectaccessreviews"));
  world.kubernetes.Answer(kReviews, "{}", "POST");
  CHECK(VerdictOf(CheckAccess(world.installation), "rbac.autoscaler") == "skipped");
}

}  // namespace tidemark::doctor
