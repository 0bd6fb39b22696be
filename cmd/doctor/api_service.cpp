#include "cmd/doctor/api_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <utility>

#include "cmd/base64.h"
#include "cmd/doctor/json_view.h"

namespace tidemark::doctor {
namespace {

namespace json = boost::json;

/// What stands in a Service's name or a label of those that are known to want this object, as their
/// own manifests and charts write it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kProducts = {{
    {"keda", "KEDA"},
    {"datadog", "the Datadog cluster agent"},
    {"prometheus-adapter", "prometheus-adapter"},
    {"custom-metrics-apiserver", "prometheus-adapter"},
    {"stackdriver", "the Stackdriver adapter"},
    {"metric-adapter", "the metric adapter of Crane"},
    {"kube-metrics-adapter", "kube-metrics-adapter"},
}};

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string ProductOf(const json::value& api_service, const ServiceName& service) {
  std::string words = service.name_space + " " + service.name;
  for (const std::string_view key : {"labels", "annotations"}) {
    for (const auto& member : MapAt(api_service, {"metadata", key})) {
      // An annotation of kubectl's repeats the whole object.
      const json::string* const text = member.value().if_string();
      if (text == nullptr || text->size() > 253) continue;
      words += " " + std::string(*text);
    }
  }
  words = Lower(std::move(words));
  for (const auto& [mark, product] : kProducts) {
    if (words.find(mark) != words.npos) return std::string(product);
  }
  return "";
}

tl::unexpected<Error> Refused(const std::string& what, const std::string& trouble) {
  return Fail(ErrorCode::kUnavailable,
              fmt::format("the APIService cannot be {}: {}; create, get and update of apiservices "
                          "in apiregistration.k8s.io are needed",
                          what, trouble));
}

}  // namespace

std::string ApiServiceOwner::Text() const {
  return product.empty() ? fmt::format("the Service {}", service.Text())
                         : fmt::format("{} (Service {})", product, service.Text());
}

std::optional<ApiServiceOwner> OwnerOf(const json::value& api_service, const ServiceName& ours) {
  if (MapAt(api_service, {"spec", "service"}).empty()) return std::nullopt;
  ApiServiceOwner owner;
  owner.service.name_space = TextAt(api_service, {"spec", "service", "namespace"});
  owner.service.name = TextAt(api_service, {"spec", "service", "name"});
  owner.service.port = static_cast<int32_t>(std::clamp<int64_t>(
      IntegerAt(api_service, {"spec", "service", "port"}).value_or(443), 0, 65535));
  owner.ours = owner.service.name_space == ours.name_space && owner.service.name == ours.name;
  if (!owner.ours) owner.product = ProductOf(api_service, owner.service);
  return owner;
}

json::value ApiServiceObject(const ServiceName& service, const std::string& ca_bundle_pem) {
  json::object spec;
  spec["group"] = "external.metrics.k8s.io";
  spec["version"] = "v1beta1";
  spec["groupPriorityMinimum"] = 100;
  spec["versionPriority"] = 100;
  spec["service"] = {
      {"namespace", service.name_space}, {"name", service.name}, {"port", service.port}};
  if (!ca_bundle_pem.empty()) spec["caBundle"] = cmd::EncodeBase64(ca_bundle_pem);
  json::object object;
  object["apiVersion"] = "apiregistration.k8s.io/v1";
  object["kind"] = "APIService";
  object["metadata"] = {{"name", kApiServiceName},
                        {"labels", {{"app.kubernetes.io/name", "tidemark"}}}};
  object["spec"] = std::move(spec);
  return object;
}

std::string ApiServiceYaml(const ServiceName& service, const std::string& ca_bundle_pem) {
  std::string text = fmt::format(
      "apiVersion: apiregistration.k8s.io/v1\n"
      "kind: APIService\n"
      "metadata:\n"
      "  name: {}\n"
      "  labels:\n"
      "    app.kubernetes.io/name: tidemark\n"
      "spec:\n"
      "  group: external.metrics.k8s.io\n"
      "  version: v1beta1\n"
      "  groupPriorityMinimum: 100\n"
      "  versionPriority: 100\n"
      "  service:\n"
      "    namespace: {}\n"
      "    name: {}\n"
      "    port: {}\n",
      kApiServiceName, service.name_space, service.name, service.port);
  if (!ca_bundle_pem.empty()) {
    text += fmt::format("  caBundle: {}\n", cmd::EncodeBase64(ca_bundle_pem));
  }
  return text;
}

Result<std::string> TakeApiService(Asker& kubernetes, const ServiceName& service,
                                   const std::string& ca_bundle_pem, bool force) {
  const std::string path = fmt::format("{}/{}", kApiServicesPath, kApiServiceName);
  json::value wanted = ApiServiceObject(service, ca_bundle_pem);
  const JsonReply present = GetJson(kubernetes, path);
  if (present.status == 404) {
    const Reply created = kubernetes.Ask({.method = "POST",
                                          .path = std::string(kApiServicesPath),
                                          .query = {{"fieldManager", "tidetool"}},
                                          .content_type = "application/json",
                                          .body = json::serialize(wanted)});
    if (!created.good()) return Refused("created", created.trouble);
    return fmt::format("created {} for {}", kApiServiceName, service.Text());
  }
  if (!present.good()) return Refused("read", present.trouble);
  const auto owner = OwnerOf(present.value, service);
  const bool ours = owner && owner->ours;
  const std::string before = owner ? owner->Text() : "kube-apiserver itself";
  if (!ours && !force) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} belongs to {}: taking it breaks every HorizontalPodAutoscaler that "
                            "goes by its metrics; let KEDA or an adapter read Tidemark's metrics "
                            "instead (deploy/), or give --force-take-apiservice",
                            kApiServiceName, before));
  }
  // Of the object that is there, all but the spec is kept: labels of a chart, and the version that
  // makes a change of somebody else's meanwhile an error (409).
  json::value changed = present.value;
  if (!changed.is_object()) return Refused("read", "the answer is no object");
  // What the owner has set beside the Service and the authority stays.
  json::object spec = ours ? MapAt(changed, {"spec"}) : json::object();
  spec.erase("insecureSkipTLSVerify");
  spec.erase("caBundle");
  for (const auto& member : MapAt(wanted, {"spec"})) {
    const bool is_priority =
        member.key().ends_with("Minimum") || member.key().ends_with("Priority");
    if (ours && is_priority && spec.contains(member.key())) continue;
    spec[member.key()] = member.value();
  }
  changed.get_object()["spec"] = std::move(spec);
  changed.get_object().erase("status");
  const Reply replaced = kubernetes.Ask({.method = "PUT",
                                         .path = path,
                                         .query = {{"fieldManager", "tidetool"}},
                                         .content_type = "application/json",
                                         .body = json::serialize(changed)});
  if (!replaced.good()) return Refused("replaced", replaced.trouble);
  if (ours) return fmt::format("brought {} up to date", kApiServiceName);
  return fmt::format("took {} from {} for {}", kApiServiceName, before, service.Text());
}

}  // namespace tidemark::doctor
