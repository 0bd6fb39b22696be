#pragma once
// Profiles for tests: the default with something changed.

#include <functional>
#include <memory>
#include <vector>

#include "model/profile.h"

namespace tidemark::testing {

/// All workloads by this one, made of a preset.
inline ProfileSetPtr OneProfile(Preset preset, const std::function<void(Profile&)>& change) {
  Profile profile = PresetProfile(preset);
  change(profile);
  return std::make_shared<const ProfileSet>(std::vector<Profile>{}, profile);
}

/// A plain percentile of VPA's buckets with its margin, of which it is easy to say what it must be.
inline void GoByPercentile(Profile& profile) {
  const Profile vpa = PresetProfile(Preset::kVpa);
  for (const Resource resource : kAllResources) {
    profile.rule(resource) = vpa.rule(resource);
    profile.rule(resource).pod_minimum = 0;
  }
  profile.rule(Resource::kCpu).pod_minimum = 0.01;
  profile.rule(Resource::kMemory).pod_minimum = 16.0 * 1024 * 1024;
}

/// All workloads by that, with something changed.
inline ProfileSetPtr ByPercentile(const std::function<void(Profile&)>& change = [](Profile&) {}) {
  return OneProfile(Preset::kTidemark, [&](Profile& profile) {
    GoByPercentile(profile);
    change(profile);
  });
}

/// The same with every resource's rule changed.
inline ProfileSetPtr EveryRule(const std::function<void(ResourceRule&)>& change) {
  return ByPercentile([&](Profile& profile) {
    for (ResourceRule& rule : profile.resources) change(rule);
  });
}

}  // namespace tidemark::testing
