#include "tests/kubernetes/admission_cases.h"

#include <boost/json/parse.hpp>
#include <stdexcept>
#include <utility>

#include "tests/kubernetes/json_patch.h"

namespace tidemark::kubernetes::testing {
namespace {

namespace json = boost::json;

/// Puts `value` there, or where it is empty nothing, null or an empty object.
void PutOrLeave(json::object& out, std::string_view key, json::object value, uint32_t how) {
  if (!value.empty() || how % 3 == 2) {
    out[key] = std::move(value);
  } else if (how % 3 == 1) {
    out[key] = nullptr;
  }
}

json::object Texts(const rightsizing::TextMap& texts) {
  json::object object;
  for (const auto& [name, text] : texts) object[name] = text;
  return object;
}

json::object ContainerJson(const rightsizing::PodContainer& container, uint32_t variant) {
  json::object resources;
  PutOrLeave(resources, "limits", Texts(container.limits), variant);
  PutOrLeave(resources, "requests", Texts(container.requests), variant / 3);
  json::object written;
  written["name"] = container.name;
  written["image"] = "example.com/image:1";
  PutOrLeave(written, "resources", std::move(resources), variant / 9);
  if (container.is_sidecar) written["restartPolicy"] = "Always";
  return written;
}

}  // namespace

json::object PodJson(const rightsizing::PodView& view, uint32_t variant) {
  json::object annotations;
  if (view.original_annotation) {
    annotations["tidemark.io/original-resources"] = *view.original_annotation;
  }
  if (view.applied_annotation) annotations["tidemark.io/applied"] = *view.applied_annotation;
  json::object labels = Texts(view.labels);
  labels["pod-template-hash"] = "7d9f8c6b5";
  json::object metadata;
  metadata["generateName"] = "web-7d9f8c6b5-";
  metadata["labels"] = std::move(labels);
  PutOrLeave(metadata, "annotations", std::move(annotations), variant);
  metadata["ownerReferences"] = json::parse(
      R"([{"apiVersion":"v1","kind":"Other","name":"x","uid":"1"},
          {"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d9f8c6b5","uid":"2",
           "controller":true}])");
  json::array containers;
  json::array init_containers;
  for (const auto& container : view.containers) {
    (container.is_init ? init_containers : containers).push_back(ContainerJson(container, variant));
  }
  json::object spec;
  spec["containers"] = std::move(containers);
  if (!init_containers.empty()) spec["initContainers"] = std::move(init_containers);
  if (view.has_pod_resources) spec["resources"] = json::parse(R"({"requests":{"cpu":"4"}})");
  json::object pod;
  pod["kind"] = "Pod";
  pod["apiVersion"] = "v1";
  pod["metadata"] = std::move(metadata);
  pod["spec"] = std::move(spec);
  pod["status"] = json::object();
  return pod;
}

json::object ReviewJson(json::object pod, std::string_view uid) {
  json::object review =
      json::parse(
          R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{
              "uid":"","kind":{"group":"","version":"v1","kind":"Pod"},
              "resource":{"group":"","version":"v1","resource":"pods"},
              "requestKind":{"group":"","version":"v1","kind":"Pod"},
              "requestResource":{"group":"","version":"v1","resource":"pods"},
              "namespace":"shop","operation":"CREATE",
              "userInfo":{"username":"system:serviceaccount:kube-system:replicaset-controller"},
              "oldObject":null,"dryRun":false,
              "options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}})")
          .as_object();
  json::object& request = review["request"].as_object();
  request["uid"] = uid;
  request["object"] = std::move(pod);
  return review;
}

Webhook::Webhook(std::shared_ptr<const Snapshot> snapshot, ProfileSetPtr profiles,
                 RightsizingSettings settings)
    : shown_(std::move(snapshot)) {
  route_ = AdmissionRoute({
      .snapshots = shown_,
      .clock = clock_,
      .authenticator = nobody_,
      .counters = counters_,
      .settings =
          [this] {
            Settings set;
            set.cluster = cluster;
            return set;
          },
      .rightsizing =
          [of = std::make_shared<const RightsizingSettings>(std::move(settings))] { return of; },
      .profiles = [of = std::move(profiles)] { return of; },
      .ready = [this] { return ready; },
  });
}

HttpResponse Webhook::Post(std::string body) const {
  HttpRequest request;
  request.method = "POST";
  request.path = "/admission/pods";
  request.query = {{"timeout", "2s"}};
  request.body = std::move(body);
  return route_->handler(request);
}

Admitted Admit(const HttpResponse& answer, std::string_view uid, const json::value& object) {
  const auto check = [](bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
  };
  check(answer.status == 200, "status");
  const json::value review = json::parse(answer.body);
  check(review.at("kind") == "AdmissionReview", "kind");
  check(review.at("apiVersion") == "admission.k8s.io/v1", "apiVersion");
  Admitted admitted;
  admitted.object = object;
  admitted.response = review.at("response").as_object();
  const json::object& response = admitted.response;
  check(response.at("uid") == json::value(uid), "uid");
  check(response.at("allowed") == true, "allowed");
  check(response.contains("patch") == response.contains("patchType"), "patch without type");
  if (const json::value* const warnings = response.if_contains("warnings")) {
    check(warnings->as_array().size() <= 4, "warnings");
    for (const json::value& warning : warnings->as_array()) {
      check(warning.as_string().size() <= 120, "length of a warning");
      for (const char c : warning.as_string()) check(c >= ' ' && c <= '~', "warning of one line");
    }
  }
  if (const json::value* const audit = response.if_contains("auditAnnotations")) {
    for (const auto& [key, value] : audit->as_object()) {
      check(!key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == key.npos,
            "audit annotation");
      check(value.is_string(), "audit annotation");
    }
  }
  if (const json::value* const patch = response.if_contains("patch")) {
    check(response.at("patchType") == "JSONPatch", "patchType");
    const std::string text = FromBase64(patch->as_string());
    const json::value operations = json::parse(text);
    check(!operations.as_array().empty(), "empty patch");
    ApplyPatch(admitted.object, operations);
    admitted.patched = true;
  }
  return admitted;
}

}  // namespace tidemark::kubernetes::testing
