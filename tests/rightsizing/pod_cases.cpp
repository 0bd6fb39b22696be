#include "tests/rightsizing/pod_cases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/quantity.h"

namespace tidemark::rightsizing::testing {

World::World() {
  profile = PresetProfile(Preset::kTidemark);
  profile.effect = Effect::kApplied;
  profile.rule(Resource::kCpu).correction = Correction::kKeepOriginal;
  profile.rule(Resource::kMemory).correction = Correction::kKeepOriginal;
  block.name_space = "shop";
  block.workloads.emplace_back().id = Web();
}

ResourceAdvice& World::Advise(std::string_view container, Resource resource, double request) {
  auto& containers = block.workloads.front().containers;
  auto found = std::ranges::find(containers, container, &ContainerAdvice::container);
  if (found == containers.end()) {
    ContainerAdvice made;
    made.container = container;
    found = containers.insert(
        std::ranges::lower_bound(containers, container, {}, &ContainerAdvice::container),
        std::move(made));
  }
  ResourceAdvice& advice = found->resources.emplace_back();
  advice.resource = resource;
  advice.model_request = request;
  advice.recommended_request = request;
  advice.confidence_days = 8;
  return advice;
}

PodPlan World::Plan(const PodView& pod) {
  profiles = std::make_shared<const ProfileSet>(std::vector<Profile>(), profile);
  const WorkloadAdvice* advice = block.workloads.empty() ? nullptr : &block.workloads.front();
  return PlanPod(pod, {advice, &block, *profiles, settings});
}

std::shared_ptr<const Snapshot> World::Shown() {
  profiles = std::make_shared<const ProfileSet>(std::vector<Profile>(), profile);
  auto shown = std::make_shared<NamespaceBlock>(block);
  shown->profiles = profiles;
  for (WorkloadAdvice& workload : shown->workloads) {
    for (ContainerAdvice& container : workload.containers) {
      container.profile = &profiles->fallback();
    }
  }
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->blocks.push_back(std::move(shown));
  return snapshot;
}

PodContainer Container(std::string name, QuantityMap requests, QuantityMap limits) {
  PodContainer container;
  container.name = std::move(name);
  container.requests = std::move(requests);
  container.limits = std::move(limits);
  return container;
}

PodView Pod(std::vector<PodContainer> containers) {
  PodView pod;
  pod.workload = Web();
  pod.containers = std::move(containers);
  return pod;
}

PodView Apply(const PodView& pod, const PodPlan& plan) {
  PodView after = pod;
  for (const RequestChange& change : plan.changes) {
    after.containers[change.container].requests[change.resource] = change.after;
  }
  if (plan.original_annotation) after.original_annotation = plan.original_annotation;
  if (plan.applied_annotation) after.applied_annotation = plan.applied_annotation;
  return after;
}

Qos QosOf(const PodView& pod) {
  std::map<std::string, double> requests;
  std::map<std::string, double> limits;
  bool all_limited = true;
  for (const PodContainer& container : pod.containers) {
    for (const std::string resource : {"cpu", "memory"}) {
      const auto amount = [&](const QuantityMap& of) {
        const auto found = of.find(resource);
        return found == of.end() ? 0 : ParseQuantity(found->second).value_or(0);
      };
      const double limit = amount(container.limits);
      const double request =
          container.requests.contains(resource) ? amount(container.requests) : limit;
      if (limit > 0) limits[resource] += limit;
      if (request > 0) requests[resource] += request;
      all_limited = all_limited && limit > 0;
    }
  }
  if (requests.empty() && limits.empty()) return Qos::kBestEffort;
  const auto same = [&](const char* resource) {
    return std::abs(requests[resource] - limits[resource]) <= 1e-12 * limits[resource];
  };
  return all_limited && same("cpu") && same("memory") ? Qos::kGuaranteed : Qos::kBurstable;
}

namespace {

class Making {
 public:
  explicit Making(std::mt19937& random) : random_(random) {}

  RandomCase Do() {
    MakeProfile();
    made_.world.settings.least_change_ratio = OneOf({0.0, 0.1, 0.3});
    if (OneIn(6)) made_.world.settings.excluded_containers = {"app"};
    if (OneIn(3)) made_.world.LimitRange(Resource::kCpu) = RandomRange(0.1, 2);
    if (OneIn(3)) made_.world.LimitRange(Resource::kMemory) = RandomRange(64 * kMi, 2 * kGi);
    std::vector<PodContainer> containers;
    for (const char* const name : {"app", "istio-proxy", "log~shipper"}) {
      if (!OneIn(3)) containers.push_back(RandomContainer(name));
    }
    for (const char* const name : {"prepare", "mesh"}) {
      if (!OneIn(3)) continue;
      containers.push_back(RandomContainer(name));
      containers.back().is_init = true;
      containers.back().is_sidecar = OneIn(2);
    }
    if (OneIn(40) && !containers.empty()) containers.push_back(containers.front());
    made_.pod = Pod(std::move(containers));
    if (OneIn(30)) made_.pod.has_pod_resources = true;
    Advise();
    Annotate();
    return std::move(made_);
  }

 private:
  bool OneIn(uint32_t n) { return random_() % n == 0; }
  double OneOf(std::vector<double> amounts) { return amounts[random_() % amounts.size()]; }

  ContainerLimits RandomRange(double low, double high) {
    ContainerLimits range;
    if (OneIn(2)) range.min = low;
    if (OneIn(2)) range.max = high;
    if (OneIn(2)) range.max_limit_request_ratio = OneOf({1, 1.5, 4});
    return range;
  }

  void MakeProfile() {
    Profile& profile = made_.world.profile;
    profile.effect = OneIn(6) ? Effect::kShown : Effect::kApplied;
    profile.mode = static_cast<PoolMode>(random_() % 4);
    if (OneIn(2)) profile.mode = PoolMode::kDynamic;
    profile.may_change_qos = OneIn(3);
    for (const Resource resource : kBuiltInResources) {
      ResourceRule& rule = profile.rule(resource);
      rule.correction = static_cast<Correction>(random_() % 3);
      rule.static_ratio = OneOf({0.3, 0.65, 1});
    }
  }

  std::string Amount(std::string_view resource) {
    if (OneIn(200)) return OneIn(2) ? "-1" : "much";
    static const std::vector<std::string> kCores = {"0",   "100m", "0.25", "500m",   "1",
                                                    "1.0", "2",    "2e0",  "0.0005", "3500m"};
    static const std::vector<std::string> kBytes = {
        "0", "128Mi", "256M", "512Mi", "1Gi", "1.5Gi", "2Gi", "4G", "1e9", "1000000001"};
    const auto& amounts = resource == "cpu" ? kCores : kBytes;
    return amounts[random_() % amounts.size()];
  }

  PodContainer RandomContainer(std::string name) {
    PodContainer container;
    container.name = std::move(name);
    const bool guaranteed = OneIn(3);
    for (const std::string resource : {"cpu", "memory", "ephemeral-storage"}) {
      if (!guaranteed && OneIn(3)) continue;
      std::string low = Amount(resource);
      std::string high = Amount(resource);
      // Most pods are such that Kubernetes lets them in.
      if (ParseQuantity(low) > ParseQuantity(high) && !OneIn(100)) std::swap(low, high);
      if (guaranteed) low = high;
      if (guaranteed || OneIn(2)) container.limits[resource] = high;
      if (!OneIn(3)) container.requests[resource] = low;
    }
    if (OneIn(8)) container.requests["nvidia.com/gpu"] = container.limits["nvidia.com/gpu"] = "1";
    return container;
  }

  void Advise() {
    for (const PodContainer& container : made_.pod.containers) {
      if (OneIn(8)) continue;
      World& world = made_.world;
      world.Advise(container.name, Resource::kCpu,
                   OneOf({0, 0.0123, 0.095, 0.2, 0.48, 0.65, 1.05, 1.7, 6}));
      world.Advise(container.name, Resource::kMemory,
                   OneOf({0, 100 * kMi, 250 * kMi, 123456789.5, 500 * kMi, kGi, 3 * kGi}));
      if (OneIn(3)) world.Advise(container.name, Resource::kEphemeralStorage, 300 * kMi);
    }
    if (OneIn(10)) made_.world.block.workloads.clear();
  }

  void Annotate() {
    switch (random_() % 12) {
      case 0:
        made_.pod.original_annotation = R"({"app":{"requests":{"cpu":"2","memory":"1Gi"}}})";
        break;
      case 1:
        made_.pod.original_annotation = R"({"app":{},"gone":{"requests":{"cpu":0.5}}})";
        break;
      case 2:
        made_.pod.original_annotation = R"({"app":{"limits":{"cpu":"1","memory":"2Gi"}}})";
        break;
      case 3: made_.pod.applied_annotation = R"({"app":{}})"; break;
      case 4:
        if (OneIn(4)) made_.pod.original_annotation = R"({"app":{"requests":{"cpu":"x"}}})";
        break;
      default: break;
    }
  }

  std::mt19937& random_;
  RandomCase made_;
};

}  // namespace

RandomCase MakeRandomCase(std::mt19937& random) { return Making(random).Do(); }

}  // namespace tidemark::rightsizing::testing
