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

/// The default with every resource's rule changed.
inline ProfileSetPtr EveryRule(const std::function<void(ResourceRule&)>& change) {
  return OneProfile(Preset::kTidemark, [&](Profile& profile) {
    for (ResourceRule& rule : profile.resources) change(rule);
  });
}

}  // namespace tidemark::testing
