#pragma once
// The sections `estimation:` and `profiles:` of the configuration.
//
// `estimation:` is what every profile inherits, and the profile of all that no other takes. A
// profile with a `preset` of its own inherits nothing: it begins with that preset's values.
//
// Free functions without state, thread-safe.

#include <string>
#include <vector>

#include "cmd/yaml_reader.h"
#include "model/profile.h"
#include "model/result.h"

namespace tidemark::cmd {

/// A profile as the file has it.
struct ProfileDraft {
  Profile profile;
  /// The keys that stand in the file themselves (`mode`, `cpu.percentile`), sorted.
  std::vector<std::string> keys;
};

/// `estimation:`. `resources`: those in force, which have sections.
Result<ProfileDraft> ReadEstimation(const YamlValue& section, ResourceTablePtr resources);

/// `profiles:`; `defaults` is what comes of `estimation:`.
Result<std::vector<ProfileDraft>> ReadProfiles(const YamlValue& list, const Profile& defaults);

/// Every key written out; read again they are the same profiles.
std::string DumpEstimation(const Profile& defaults);
std::string DumpProfiles(const std::vector<Profile>& profiles);

}  // namespace tidemark::cmd
