#include "rightsizing/pod_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "model/quantity.h"
#include "model/rounding.h"
#include "rightsizing/original_annotation.h"
#include "rightsizing/qos_class.h"
#include "rightsizing/request_decision.h"

namespace tidemark::rightsizing {
namespace {

/// What manifests ask for under names that do not depend on the cluster. GPUs are asked for whole.
constexpr std::array<std::pair<Resource, std::string_view>, 3> kCorrected = {
    {{Resource::kCpu, "cpu"},
     {Resource::kMemory, "memory"},
     {Resource::kEphemeralStorage, "ephemeral-storage"}}};
constexpr size_t kCpuSlot = 0;
constexpr size_t kMemorySlot = 1;
constexpr size_t kQosSlots = 2;

/// The value as the API server keeps it: rounded up to thousandths (Kubernetes 1.34,
/// pkg/apis/core/v1/defaults.go, SetDefaults_ResourceList).
std::optional<double> KeptValue(std::string_view text) {
  constexpr double kWhereThousandthsCount = 1e9;
  constexpr double kThousandth = 0.001;
  const auto value = ParseQuantity(text);
  if (!value || *value < 0) return std::nullopt;
  return *value < kWhereThousandthsCount ? RoundedUp(*value, kThousandth) : *value;
}

std::optional<WrittenAmount> Find(const QuantityMap& quantities, std::string_view resource) {
  const auto found = quantities.find(resource);
  if (found == quantities.end()) return std::nullopt;
  const auto value = KeptValue(found->second);
  if (!value) return std::nullopt;
  return WrittenAmount{*value, found->second};
}

/// A limit without a request is the request as well.
std::optional<WrittenAmount> FindRequest(const QuantityMap& requests, const QuantityMap& limits,
                                         std::string_view resource) {
  auto request = Find(requests, resource);
  return request ? request : Find(limits, resource);
}

const ContainerAdvice* FindContainer(const WorkloadAdvice* workload, std::string_view name) {
  if (workload == nullptr) return nullptr;
  const auto found = std::ranges::find(workload->containers, name, &ContainerAdvice::container);
  return found == workload->containers.end() ? nullptr : &*found;
}

ResourceAdvice AdviceOn(const ContainerAdvice* container, Resource resource) {
  if (container != nullptr) {
    const auto found = std::ranges::find(container->resources, resource, &ResourceAdvice::resource);
    if (found != container->resources.end()) return *found;
  }
  ResourceAdvice nothing;
  nothing.resource = resource;
  return nothing;
}

std::string_view NameOf(QosClass qos) {
  switch (qos) {
    case QosClass::kBestEffort: return "BestEffort";
    case QosClass::kBurstable: return "Burstable";
    case QosClass::kGuaranteed: return "Guaranteed";
  }
  return "unknown";
}

/// A container while it is planned.
struct Planned {
  const PodContainer* container = nullptr;
  const Profile* profile = nullptr;  ///< null: it is left alone
  std::array<RequestFacts, kCorrected.size()> facts;
  std::array<RequestDecision, kCorrected.size()> decisions;
};

class Planning {
 public:
  Planning(const PodView& pod, const PodContext& context) : pod_(pod), context_(context) {}

  PodPlan Do() {
    plan_.why_not = WhyNot();
    if (!plan_.why_not.empty()) return std::move(plan_);
    const std::string pod_labels = ProfileLabels(pod_.labels);
    for (const PodContainer& container : pod_.containers) {
      planned_.push_back(Plan(container, pod_labels));
    }
    KeepQosClass();
    LeaveWhatIsNear();
    for (size_t i = 0; i < planned_.size(); ++i) Tell(i);
    Annotate();
    return std::move(plan_);
  }

 private:
  std::string WhyNot() {
    if (pod_.workload.workload.empty() || pod_.workload.workload_type.empty()) {
      return "whose pod it is is not known";
    }
    if (pod_.has_pod_resources) return "it has resources for the pod as a whole";
    if (pod_.containers.size() > kMaxAnnotatedContainers) {
      return fmt::format("it has more than {} containers", kMaxAnnotatedContainers);
    }
    if (pod_.original_annotation) {
      auto read = ParseOriginalAnnotation(*pod_.original_annotation);
      if (!read) return fmt::format("its annotation {} cannot be read", kOriginalAnnotation);
      originals_ = std::move(*read);
    }
    std::set<std::string_view> names;
    for (const PodContainer& container : pod_.containers) {
      if (container.name.empty()) return "a container has no name";
      if (!names.insert(container.name).second) {
        return fmt::format("two containers are named {}", container.name);
      }
      auto fault = Fault(container);
      if (!fault.empty()) return fault;
    }
    return {};
  }

  static std::string Fault(const PodContainer& container) {
    for (const auto* quantities : {&container.requests, &container.limits}) {
      for (const auto& [resource, text] : *quantities) {
        if (KeptValue(text)) continue;
        return fmt::format("the {} of container {} cannot be read", resource, container.name);
      }
    }
    for (const auto& [resource, text] : container.requests) {
      const auto limit = Find(container.limits, resource);
      if (!limit || *KeptValue(text) <= limit->value) continue;
      return fmt::format("container {} requests more {} than its limit", container.name, resource);
    }
    return {};
  }

  bool IsExcluded(const PodContainer& container) const {
    return std::ranges::binary_search(context_.settings.excluded_containers, container.name);
  }

  Planned Plan(const PodContainer& container, std::string_view pod_labels) const {
    Planned planned;
    planned.container = &container;
    for (size_t i = 0; i < kCorrected.size(); ++i) {
      RequestFacts& facts = planned.facts[i];
      const std::string_view resource = kCorrected[i].second;
      facts.limit = Find(container.limits, resource);
      facts.now = FindRequest(container.requests, container.limits, resource);
      facts.original = facts.now;
      planned.decisions[i].base = planned.decisions[i].result = facts.now;
    }
    if ((container.is_init && !container.is_sidecar) || IsExcluded(container)) return planned;

    const auto annotated = originals_.find(container.name);
    const ContainerAdvice* const advice = FindContainer(context_.advice, container.name);
    planned.profile = advice != nullptr && advice->profile != nullptr
                          ? advice->profile
                          : &context_.profiles.Find({pod_.workload, container.name, pod_labels});
    for (size_t i = 0; i < kCorrected.size(); ++i) {
      const auto& [resource, name] = kCorrected[i];
      RequestFacts& facts = planned.facts[i];
      if (annotated != originals_.end()) {
        facts.original = FindRequest(annotated->second.requests, annotated->second.limits, name);
        if (!facts.original) facts.original = facts.limit;
      }
      ContainerLimits range;
      if (context_.block != nullptr) range = context_.block->container_limits.Get(resource);
      const Effect effect = context_.is_asked_for ? Effect::kApplied : planned.profile->effect;
      planned.decisions[i] =
          DecideRequest(*planned.profile, effect, AdviceOn(advice, resource), facts, range);
    }
    return planned;
  }

  QosClass ClassOf(std::optional<WrittenAmount> RequestDecision::*which) const {
    std::vector<ContainerResources> all;
    for (const Planned& planned : planned_) {
      const auto pair = [&](size_t slot) {
        ContainerResources::Pair made;
        if (const auto& request = planned.decisions[slot].*which) made.request = request->value;
        if (const auto& limit = planned.facts[slot].limit) made.limit = limit->value;
        return made;
      };
      all.push_back({pair(kCpuSlot), pair(kMemorySlot)});
    }
    return QosClassOf(all);
  }

  /// Whether all whose CPU or memory is corrected are allowed to.
  bool MayChangeQos() const {
    return std::ranges::all_of(planned_, [](const Planned& planned) {
      return planned.profile == nullptr || planned.profile->may_change_qos ||
             (!planned.decisions[kCpuSlot].Corrects() &&
              !planned.decisions[kMemorySlot].Corrects());
    });
  }

  void KeepQosClass() {
    const QosClass was = ClassOf(&RequestDecision::base);
    const QosClass is = ClassOf(&RequestDecision::result);
    if (was == is || (was == QosClass::kBestEffort && is == QosClass::kBurstable)) return;
    if (was == QosClass::kGuaranteed && is == QosClass::kBurstable && MayChangeQos()) return;
    for (Planned& planned : planned_) {
      for (size_t slot = 0; slot < kQosSlots; ++slot) {
        RequestDecision& decision = planned.decisions[slot];
        if (!decision.Corrects()) continue;
        decision.what = fmt::format(
            "not set to {}: the pod's QoS class would be {} instead of {}{}", decision.result->text,
            NameOf(is), NameOf(was),
            was == QosClass::kGuaranteed ? ", which takes may_change_qos in its profile" : "");
        decision.rule = CorrectionRule::kKeepOriginal;
        decision.result = decision.base;
      }
    }
  }

  /// Small changes are left out, unless the pod's QoS class came of it.
  void LeaveWhatIsNear() {
    std::vector<Planned> left = planned_;
    const double ratio = context_.settings.least_change_ratio;
    for (Planned& planned : left) {
      for (size_t i = 0; planned.profile != nullptr && i < kCorrected.size(); ++i) {
        RequestDecision& decision = planned.decisions[i];
        const RequestFacts& facts = planned.facts[i];
        if (!IsNear(kCorrected[i].first, decision, facts, ratio)) continue;
        decision.what += fmt::format("; left at {}: a change of less than {:.4g} % is not made",
                                     facts.now->text, ratio * 100);
        decision.result = facts.now;
      }
    }
    const QosClass wanted = ClassOf(&RequestDecision::result);
    planned_.swap(left);
    if (ClassOf(&RequestDecision::result) != wanted) planned_.swap(left);
  }

  void Tell(size_t index) {
    const Planned& planned = planned_[index];
    if (planned.profile == nullptr) {
      plan_.kept.push_back({index, "", CorrectionRule::kOff,
                            planned.container->is_init && !planned.container->is_sidecar
                                ? "init containers are left alone"
                                : "the container is excluded"});
      return;
    }
    for (size_t i = 0; i < kCorrected.size(); ++i) {
      const RequestDecision& decision = planned.decisions[i];
      const RequestFacts& facts = planned.facts[i];
      const std::string resource(kCorrected[i].second);
      const auto& requests = planned.container->requests;
      const auto before = requests.find(resource);
      if (decision.result && (!facts.now || decision.result->value != facts.now->value)) {
        plan_.changes.push_back({index, resource, before == requests.end() ? "" : before->second,
                                 decision.result->text, decision.rule, decision.what});
      } else if (facts.now || i < kQosSlots) {
        plan_.kept.push_back({index, resource, decision.rule, decision.what});
      }
    }
  }

  /// What is recorded of the owner's: the API server writes requests where there are only limits.
  static OriginalResources OriginalOf(const PodContainer& container) {
    OriginalResources original{container.requests, container.limits};
    for (const auto& limit : container.limits) original.requests.insert(limit);
    return original;
  }

  std::optional<std::string> Applied() const {
    std::map<std::string_view, boost::json::object> by_container;
    for (const Planned& planned : planned_) {
      for (size_t i = 0; planned.profile != nullptr && i < kCorrected.size(); ++i) {
        const RequestDecision& decision = planned.decisions[i];
        const auto& original = planned.facts[i].original;
        if (!decision.result) continue;
        const bool is_original =
            original ? original->value == decision.result->value : !Sets(decision.rule);
        if (is_original) continue;
        boost::json::object entry;
        entry["request"] = decision.result->text;
        entry["rule"] = ToString(decision.rule);
        if (original) entry["original"] = original->text;
        by_container[planned.container->name][kCorrected[i].second] = std::move(entry);
      }
    }
    if (by_container.empty()) return std::nullopt;
    boost::json::object root;
    for (auto& [container, entries] : by_container) root[container] = std::move(entries);
    return boost::json::serialize(root);
  }

  void Annotate() {
    const auto applied = Applied();
    if (!applied) {
      constexpr std::string_view kNothing = "{}";
      if (pod_.applied_annotation && *pod_.applied_annotation != kNothing) {
        plan_.applied_annotation = kNothing;
      }
      return;
    }
    bool added = false;
    for (const PodContainer& container : pod_.containers) {
      if (container.is_init && !container.is_sidecar) continue;
      added |= originals_.try_emplace(container.name, OriginalOf(container)).second;
    }
    const std::string originals = added ? ToJson(originals_) : std::string();
    if (originals_.size() > kMaxAnnotatedContainers || originals.size() > kMaxAnnotationBytes ||
        applied->size() > kMaxAnnotationBytes) {
      plan_ = PodPlan();
      plan_.why_not = "what would have to be recorded of it is too large";
      return;
    }
    if (added) plan_.original_annotation = originals;
    if (pod_.applied_annotation != applied) plan_.applied_annotation = applied;
  }

  const PodView& pod_;
  const PodContext& context_;
  OriginalAnnotation originals_;
  std::vector<Planned> planned_;
  PodPlan plan_;
};

}  // namespace

PodPlan PlanPod(const PodView& pod, const PodContext& context) {
  return Planning(pod, context).Do();
}

}  // namespace tidemark::rightsizing
