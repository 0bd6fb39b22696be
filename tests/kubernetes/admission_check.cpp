#include "tests/kubernetes/admission_check.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "model/quantity.h"
#include "workloads/original_resources.h"

namespace tidemark::kubernetes::testing {
namespace {

namespace json = boost::json;
using rightsizing::testing::Qos;
using rightsizing::testing::QosOf;

void Check(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Our annotations and the requests that may be set, out of a pod: what is left must not change.
/// Objects that hold nothing else go as well, as null does.
json::value WithoutOurs(json::value pod) {
  const auto drop_empty = [](json::object& of, std::string_view key) {
    const json::value* const value = of.if_contains(key);
    if (value == nullptr) return;
    if (value->is_null() || (value->is_object() && value->get_object().empty())) of.erase(key);
  };
  json::object& metadata = pod.at("metadata").as_object();
  if (json::value* const annotations = metadata.if_contains("annotations")) {
    if (annotations->is_object()) {
      annotations->get_object().erase("tidemark.io/original-resources");
      annotations->get_object().erase("tidemark.io/applied");
    }
    drop_empty(metadata, "annotations");
  }
  for (const char* const list : {"containers", "initContainers"}) {
    json::value* const containers = pod.at("spec").as_object().if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::value& container : containers->get_array()) {
      json::value* const resources = container.as_object().if_contains("resources");
      if (resources != nullptr && resources->is_object()) {
        json::value* const requests = resources->get_object().if_contains("requests");
        if (requests != nullptr && requests->is_object()) {
          for (const char* const ours : {"cpu", "memory", "ephemeral-storage"}) {
            requests->get_object().erase(ours);
          }
        }
        drop_empty(resources->get_object(), "requests");
      }
      drop_empty(container.as_object(), "resources");
    }
  }
  return pod;
}

rightsizing::PodView ViewOf(const json::value& pod) {
  rightsizing::PodView view;
  for (const char* const list : {"containers", "initContainers"}) {
    const json::value* const containers = pod.at("spec").as_object().if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (const json::value& container : containers->get_array()) {
      rightsizing::PodContainer& read = view.containers.emplace_back();
      const json::value* const resources = container.as_object().if_contains("resources");
      if (resources == nullptr || !resources->is_object()) continue;
      const auto read_part = [&](const char* part, rightsizing::QuantityMap& out) {
        const json::value* const quantities = resources->get_object().if_contains(part);
        if (quantities == nullptr || !quantities->is_object()) return;
        for (const auto& [name, text] : quantities->get_object()) {
          out[name] = text.is_string() ? std::string(text.get_string()) : json::serialize(text);
        }
      };
      read_part("requests", read.requests);
      read_part("limits", read.limits);
    }
  }
  return view;
}

void CheckRequests(const rightsizing::PodView& view) {
  for (const auto& container : view.containers) {
    for (const auto& [name, text] : container.requests) {
      const auto request = ParseQuantity(text);
      Check(request.has_value() && *request >= 0, "no quantity: " + text);
      const auto limit = container.limits.find(name);
      if (limit == container.limits.end()) continue;
      // The API server rounds both up to thousandths.
      constexpr double kThousandth = 0.001;
      Check(*request <= ParseQuantity(limit->second).value() + kThousandth,
            "a request of " + text + " above its limit of " + limit->second);
    }
  }
}

void CheckPatched(const json::value& before, const json::value& after, bool may_change_qos) {
  Check(WithoutOurs(before) == WithoutOurs(after), "something else has changed");
  const rightsizing::PodView was = ViewOf(before);
  const rightsizing::PodView is = ViewOf(after);
  CheckRequests(is);
  json::object annotations;
  if (const json::value* const all = after.at("metadata").as_object().if_contains("annotations");
      all != nullptr && all->is_object()) {
    annotations = all->get_object();
  }
  const std::string record = "tidemark.io/original-resources";
  if (annotations.contains(record)) {
    const auto read = workloads::ParseOriginalRequests(annotations.at(record).as_string());
    Check(read.has_value(), "a record of originals that cannot be read");
  }
  json::object applied;
  if (const json::value* const entries = annotations.if_contains("tidemark.io/applied")) {
    applied = json::parse(entries->as_string()).as_object();
  }
  const json::value* const old = before.at("metadata").as_object().if_contains("annotations");
  if (old != nullptr && old->is_object() && old->get_object().contains(record)) return;
  Check(annotations.contains(record) || applied.empty(), "no record of originals");
  const Qos from = QosOf(was);
  const Qos to = QosOf(is);
  const bool may = (from == Qos::kBestEffort || (from == Qos::kGuaranteed && may_change_qos)) &&
                   to == Qos::kBurstable;
  Check(from == to || may, "another QoS class");
}

/// The uid and object of a request, where there are any.
std::optional<std::pair<std::string, json::value>> Sent(const std::string& body) {
  json::parse_options options;
  options.max_depth = 128;
  boost::system::error_code error;
  const json::value review = json::parse(body, error, {}, options);
  if (error || !review.is_object()) return std::nullopt;
  const json::value* const request = review.get_object().if_contains("request");
  if (request == nullptr || !request->is_object()) return std::nullopt;
  const json::value* const uid = request->get_object().if_contains("uid");
  if (uid == nullptr || !uid->is_string() || uid->get_string().empty()) return std::nullopt;
  const json::value* const object = request->get_object().if_contains("object");
  return std::pair(std::string(uid->get_string()), object == nullptr ? json::value() : *object);
}

}  // namespace

bool CheckAnswer(const Webhook& webhook, const std::string& body, bool may_change_qos) {
  const HttpResponse answer = webhook.Post(body);
  const auto sent = Sent(body);
  if (!sent) {
    Check(answer.status == 400, "an answer to nothing");
    Check(json::parse(answer.body).at("kind") == "Status", "no Status");
    return false;
  }
  const Admitted admitted = Admit(answer, sent->first, sent->second);
  if (!admitted.patched) return false;
  CheckPatched(sent->second, admitted.object, may_change_qos);

  json::value again = json::parse(body);
  again.at("request").as_object()["object"] = admitted.object;
  const Admitted second = Admit(webhook.Post(json::serialize(again)), sent->first, admitted.object);
  Check(!second.patched, "a second patch");
  return true;
}

}  // namespace tidemark::kubernetes::testing
