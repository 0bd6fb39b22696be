#include "kubernetes/pod_patch.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "model/rightsizing.h"

namespace tidemark::kubernetes {
namespace {

namespace json = boost::json;

class Patch {
 public:
  void Add(std::string_view pointer, json::value value) {
    json::object operation;
    operation["op"] = "add";
    operation["path"] = pointer;
    operation["value"] = std::move(value);
    operations_.push_back(std::move(operation));
  }
  std::string Text() const { return json::serialize(operations_); }

 private:
  json::array operations_;
};

void AddAnnotations(const ReviewedPod& pod, const rightsizing::PodPlan& plan, Patch& patch) {
  if (!plan.original_annotation && !plan.applied_annotation) return;
  const std::string annotations = "/metadata/annotations";
  if (!pod.has_annotations) patch.Add(annotations, json::object());
  const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) patch.Add(annotations + "/" + EscapedKey(name), json::value(*value));
  };
  add(kOriginalAnnotation, plan.original_annotation);
  add(kAppliedAnnotation, plan.applied_annotation);
}

}  // namespace

std::string EscapedKey(std::string_view key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string PodPatch(const ReviewedPod& pod, const rightsizing::PodPlan& plan) {
  Patch patch;
  AddAnnotations(pod, plan, patch);
  std::vector<ReviewedPod::Place> places = pod.places;
  for (const rightsizing::RequestChange& change : plan.changes) {
    ReviewedPod::Place& place = places[change.container];
    const std::string resources = place.pointer + "/resources";
    if (!place.has_resources) patch.Add(resources, json::object());
    if (!place.has_requests) patch.Add(resources + "/requests", json::object());
    place.has_resources = place.has_requests = true;
    patch.Add(resources + "/requests/" + EscapedKey(change.resource), json::value(change.after));
  }
  return patch.Text();
}

}  // namespace tidemark::kubernetes
