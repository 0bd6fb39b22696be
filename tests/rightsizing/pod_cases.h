#pragma once
// Pods, and what is known of their workloads, for tests of right-sizing.

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/rightsizing.h"
#include "model/snapshot.h"
#include "rightsizing/pod_plan.h"

namespace tidemark::rightsizing::testing {

inline constexpr double kMi = 1024.0 * 1024;
inline constexpr double kGi = 1024 * kMi;

/// The workload of all of them: deployment web in namespace shop of no cluster.
inline WorkloadId Web() { return {"", "shop", "deployment", "web"}; }

/// All that a plan is made of, and that it must outlive.
struct World {
  Profile profile;  ///< the default
  RightsizingSettings settings;
  NamespaceBlock block;  ///< with the workload web, unless that is taken out

  World();
  /// Advice on a container, which is made where there is none yet.
  ResourceAdvice& Advise(std::string_view container, Resource resource, double request);
  ContainerLimits& LimitRange(Resource resource) { return block.container_limits.At(resource); }
  /// With the profile as it is now.
  PodPlan Plan(const PodView& pod);
  /// A Snapshot of the block, with the profile as it is now.
  std::shared_ptr<const Snapshot> Shown();

  ProfileSetPtr profiles;  ///< of the last plan or Snapshot
};

PodContainer Container(std::string name, QuantityMap requests, QuantityMap limits = {});
PodView Pod(std::vector<PodContainer> containers);

/// `pod` after `plan`.
PodView Apply(const PodView& pod, const PodPlan& plan);

/// As Kubernetes would say of what stands in the pod: see qos_class.h, but by sums of amounts.
enum class Qos { kBestEffort, kBurstable, kGuaranteed };
Qos QosOf(const PodView& pod);

/// A world and a pod of it, with some of everything: limits without requests, annotations of an
/// earlier pass, sidecars, profiles that raise, LimitRanges, unreadable quantities now and then.
struct RandomCase {
  World world;
  PodView pod;
};
RandomCase MakeRandomCase(std::mt19937& random);

}  // namespace tidemark::rightsizing::testing
