#include <set>

#include "tests/kubernetes/kubernetes_fakes.h"

using namespace tidemark;
using namespace tidemark::kubernetes;

namespace {

constexpr std::string_view kV2 =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr std::string_view kV2Beta1 =
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

}  // namespace

TEST_CASE("the documents of discovery are there without any data", "[kubernetes][discovery]") {
  Port port;
  port.ready = false;
  CHECK(
      port.Ask("/apis").body ==
      R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"external.metrics.k8s.io",)"
      R"("versions":[{"groupVersion":"external.metrics.k8s.io/v1beta1","version":"v1beta1"}],)"
      R"("preferredVersion":{"groupVersion":"external.metrics.k8s.io/v1beta1","version":"v1beta1"}}]})"
      "\n");
  CHECK(
      port.Ask("/apis/external.metrics.k8s.io").body ==
      R"({"kind":"APIGroup","apiVersion":"v1","name":"external.metrics.k8s.io",)"
      R"("versions":[{"groupVersion":"external.metrics.k8s.io/v1beta1","version":"v1beta1"}],)"
      R"("preferredVersion":{"groupVersion":"external.metrics.k8s.io/v1beta1","version":"v1beta1"}})"
      "\n");
  for (const char* const path :
       {"/apis/external.metrics.k8s.io/v1beta1", "/apis/external.metrics.k8s.io/v1beta1/",
        "/apis/external.metrics.k8s.io/v1beta1?timeout=32s"}) {
    const HttpResponse answer = port.Ask(path, {{"Accept", "application/json"}});
    CHECK(answer.status == 200);
    CHECK(HeaderOf(answer, "Content-Type") == "application/json");
    const boost::json::value list = Json(answer);
    CHECK(list.at("kind") == "APIResourceList");
    CHECK(list.at("groupVersion") == "external.metrics.k8s.io/v1beta1");
    const auto& resources = list.at("resources").as_array();
    CHECK(resources.size() == 4);
    // kubectl finds a resource again by its kind.
    std::set<std::string> kinds;
    for (const auto& resource : resources) {
      kinds.insert(std::string(resource.at("kind").as_string()));
      CHECK(resource.at("namespaced") == true);
      CHECK(resource.at("verbs").at(0) == "get");
      CHECK(resource.at("singularName") == "");
    }
    CHECK(kinds.size() == resources.size());
    CHECK(resources[0].at("name") == "tidemark_target_replicas");
    CHECK(resources[0].at("kind") == "ExternalMetricValueList");
  }
}

TEST_CASE("aggregated discovery is of the type asked for, and has a tag",
          "[kubernetes][discovery]") {
  Port port;
  for (const auto& [accept, version] : {std::pair(kV2, "apidiscovery.k8s.io/v2"),
                                        std::pair(kV2Beta1, "apidiscovery.k8s.io/v2beta1")}) {
    const HttpResponse answer = port.Ask("/apis", {{"Accept", std::string(accept)}});
    CHECK(answer.status == 200);
    CHECK(HeaderOf(answer, "Content-Type") == accept);
    CHECK(HeaderOf(answer, "Vary") == "Accept");
    const boost::json::value list = Json(answer);
    CHECK(list.at("apiVersion").as_string() == version);
    const auto& served = list.at("items").at(0).at("versions").at(0);
    CHECK(served.at("freshness") == "Current");
    for (const auto& resource : served.at("resources").as_array()) {
      CHECK(resource.at("responseKind").at("kind").as_string().size() > 0);
      CHECK(resource.at("scope") == "Namespaced");
    }
    const std::string tag = HeaderOf(answer, "ETag");
    CHECK(tag.size() > 10);
    for (const std::string& known : {tag, "W/" + tag, "\"x\", " + tag, std::string("*")}) {
      const HttpResponse again =
          port.Ask("/apis", {{"Accept", std::string(accept)}, {"If-None-Match", known}});
      CHECK(again.status == 304);
      CHECK(again.body.empty());
      CHECK(HeaderOf(again, "ETag") == tag);
    }
    CHECK(port.Ask("/apis", {{"Accept", std::string(accept)}, {"If-None-Match", "\"x\""}}).status ==
          200);
  }
  CHECK(StatusMessage(port.Ask("/apis", {{"Accept", "text/html"}}), 406) ==
        "only application/json can be sent");
}

TEST_CASE("what is not there is a Status", "[kubernetes][discovery]") {
  Port port;
  for (const char* const path :
       {"/", "/api", "/api/v1", "/openapi/v2", "/openapi/v3", "/apis/apps", "/apis/apps/v1",
        "/apis/external.metrics.k8s.io/v1", "/apis/external.metrics.k8s.io/v1beta1/namespaces",
        "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop",
        "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/a/b/c", "/metrics", "//apis"}) {
    CAPTURE(path);
    CHECK(StatusMessage(port.Ask(path), 404).starts_with("the server could not find"));
  }
  CHECK(StatusMessage(port.Ask("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/"
                               "tidemark_target_replicas/web"),
                      404)
            .ends_with("kubectl get tidemark_target_replicas -n shop -l workload=web"));
  CHECK(StatusMessage(port.Ask("/apis?timeout=soon"), 400).find("\"soon\"") != std::string::npos);
  for (const char* const good : {"0", "1m30s", "1.5h", "100ms", "32s"}) {
    CHECK(port.Ask("/apis?timeout=" + std::string(good)).status == 200);
  }
  for (const char* const bad : {"", "s", "3", "1.2.3s", "3x", "1s2"}) {
    CAPTURE(bad);
    CHECK(port.Ask("/apis?timeout=" + std::string(bad)).status == 400);
  }
}

TEST_CASE("only reading is possible", "[kubernetes][discovery]") {
  Port port;
  for (const char* const method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    const HttpResponse answer = port.Ask("/apis", {}, method);
    StatusMessage(answer, 405);
    CHECK(HeaderOf(answer, "Allow") == "GET, HEAD");
  }
  CHECK(StatusMessage(port.Ask("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/"
                               "tidemark_target_replicas?watch=1"),
                      405) == "values cannot be watched; ask again");
}

TEST_CASE("probes need nobody, all else somebody", "[kubernetes][discovery]") {
  Port port;
  port.lets_in.denied =
      Denied{AccessDenial::kUnknownAuthority, "the certificate is of no known CA"};
  for (const char* const path : {"/healthz", "/livez", "/readyz", "/version"}) {
    CHECK(port.Ask(path).status == 200);
  }
  for (const char* const path : {"/apis", "/nothing", "/openapi/v2"}) {
    CHECK(StatusMessage(port.Ask(path), 401) == "the certificate is of no known CA");
  }
  CHECK(port.counters.denials[static_cast<size_t>(AccessDenial::kUnknownAuthority)].load() == 3);
}
