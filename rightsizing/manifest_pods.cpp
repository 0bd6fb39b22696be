#include "rightsizing/manifest_pods.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <set>
#include <utility>

#include "model/rightsizing.h"
#include "rightsizing/pod_owner.h"

namespace tidemark::rightsizing {
namespace {

constexpr size_t kMaxItems = 5'000;
constexpr std::string_view kTangled =
    "anchors, aliases, tags, merge keys or repeated keys are in it: write them out first";

std::string TextAt(const SourceNode& node, std::initializer_list<std::string_view> keys) {
  const SourceNode* const found = node.FindPath(keys);
  const auto text = found == nullptr ? std::nullopt : found->Text();
  return std::string(text.value_or(""));
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Texts of a map; false when one of them is none.
bool ReadTexts(const SourceNode* map, TextMap& out) {
  if (map == nullptr || map->IsNothing()) return true;
  if (!map->IsMap()) return false;
  for (const auto& [key, value] : map->entries) {
    const auto text = value.Text();
    if (!text) return false;
    out[key.text] = std::string(*text);
  }
  return true;
}

bool ReadContainers(const SourceNode& spec, std::string_view key, bool is_init, ManifestPod& pod) {
  const SourceNode* const list = spec.Find(key);
  if (list == nullptr || list->IsNothing()) return true;
  if (!list->IsList()) return false;
  for (const SourceNode& item : list->items) {
    if (!item.IsMap()) return false;
    PodContainer container;
    container.name = TextAt(item, {"name"});
    container.is_init = is_init;
    container.is_sidecar = is_init && TextAt(item, {"restartPolicy"}) == "Always";
    const SourceNode* const resources = item.Find("resources");
    if (resources != nullptr && !resources->IsNothing()) {
      if (!resources->IsMap() || !ReadTexts(resources->Find("requests"), container.requests) ||
          !ReadTexts(resources->Find("limits"), container.limits)) {
        return false;
      }
    }
    pod.view.containers.push_back(std::move(container));
    pod.containers.push_back(&item);
  }
  return true;
}

std::optional<ControllerReference> ControllerOf(const SourceNode& object) {
  const SourceNode* const owners = object.FindPath({"metadata", "ownerReferences"});
  if (owners == nullptr) return std::nullopt;
  for (const SourceNode& owner : owners->items) {
    if (TextAt(owner, {"controller"}) == "true") {
      return ControllerReference{TextAt(owner, {"kind"}), TextAt(owner, {"name"})};
    }
  }
  return std::nullopt;
}

/// Fills the view; sets `problem` where that is not possible.
void ReadPod(ManifestPod& pod) {
  const SourceNode& node = *pod.pod;
  const SourceNode* const spec = node.Find("spec");
  if (spec == nullptr || !spec->IsMap()) {
    pod.problem = "it has no spec of a pod";
    return;
  }
  const SourceNode* const annotations = node.FindPath({"metadata", "annotations"});
  if (annotations != nullptr) {
    for (const auto& [name, out] : {std::pair(kOriginalAnnotation, &pod.view.original_annotation),
                                    std::pair(kAppliedAnnotation, &pod.view.applied_annotation)}) {
      const SourceNode* const annotation = annotations->Find(name);
      if (annotation == nullptr) continue;
      if (const auto text = annotation->Text()) *out = std::string(*text);
    }
  }
  const SourceNode* const resources = spec->Find("resources");
  pod.view.has_pod_resources = resources != nullptr && !resources->IsNothing();
  const bool good = ReadTexts(node.FindPath({"metadata", "labels"}), pod.view.labels) &&
                    ReadContainers(*spec, "containers", false, pod) &&
                    ReadContainers(*spec, "initContainers", true, pod);
  if (!good) pod.problem = "its labels or containers are not written as those of a pod are";
}

/// Something of the node's own, not of what is in it, makes an edit mean more than it says.
bool IsTangledItself(const SourceNode& node) {
  if (node.shared) return true;
  std::set<std::string_view> keys;
  return std::ranges::any_of(node.entries, [&keys](const auto& entry) {
    const SourceNode& key = entry.first;
    return key.kind != SourceNode::Kind::kScalar || key.shared || key.text == "<<" ||
           !keys.insert(key.text).second;
  });
}

using Path = std::vector<std::string_view>;

/// Where the pod's template is; nullopt for kinds that have none.
std::optional<Path> TemplateOf(std::string_view kind) {
  constexpr std::array<std::string_view, 8> kWithTemplate = {
      "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController",
      "Job",        "CloneSet",    "Rollout"};
  if (kind == "Pod") return Path();
  if (kind == "PodTemplate") return Path{"template"};
  if (kind == "CronJob") return Path{"spec", "jobTemplate", "spec", "template"};
  if (std::ranges::find(kWithTemplate, kind) == kWithTemplate.end()) return std::nullopt;
  return Path{"spec", "template"};
}

/// `tangled`: what the object stands in is shared.
void Find(const SourceNode& object, bool may_be_list, bool tangled,
          std::vector<ManifestPod>& pods) {
  if (!object.IsMap()) return;
  tangled = tangled || IsTangledItself(object);
  const std::string kind = TextAt(object, {"kind"});
  if (kind.ends_with("List")) {
    const SourceNode* const items = object.Find("items");
    if (!may_be_list || items == nullptr) return;
    for (const SourceNode& item : items->items) {
      if (pods.size() < kMaxItems) Find(item, false, tangled || items->shared, pods);
    }
    return;
  }
  const auto path = TemplateOf(kind);
  if (!path) return;
  const SourceNode* node = &object;
  for (const std::string_view key : *path) {
    const SourceNode* const next = node->Find(key);
    if (next == nullptr && !tangled) return;
    if (next == nullptr) break;  // it is where an alias points
    node = next;
    tangled = tangled || IsTangledItself(*node);
  }
  if (!node->IsMap() && !tangled) return;
  const SourceNode* const metadata = object.Find("metadata");
  tangled = tangled || (metadata != nullptr && metadata->IsTangled());
  ManifestPod& pod = pods.emplace_back();
  pod.kind = kind;
  pod.name_space = TextAt(object, {"metadata", "namespace"});
  pod.name = TextAt(object, {"metadata", "name"});
  pod.pod = node;
  if (tangled || node->IsTangled()) {
    pod.problem = kTangled;
    return;
  }
  ReadPod(pod);
  pod.view.workload.name_space = pod.name_space;
  pod.view.workload.workload_type = Lower(kind);
  pod.view.workload.workload = pod.name;
  if (kind != "Pod") return;
  if (auto owner = WorkloadOf(ControllerOf(object), pod.view.labels)) {
    pod.view.workload.workload_type = std::move(owner->first);
    pod.view.workload.workload = std::move(owner->second);
  }
}

}  // namespace

std::vector<ManifestPod> FindPods(const SourceNode& document) {
  std::vector<ManifestPod> pods;
  Find(document, true, false, pods);
  return pods;
}

}  // namespace tidemark::rightsizing
