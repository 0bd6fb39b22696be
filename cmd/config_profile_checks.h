#pragma once
// The rules that join several keys of a profile. Free functions without state, thread-safe.

#include "cmd/config_given.h"
#include "cmd/yaml_reader.h"
#include "model/profile.h"
#include "model/result.h"

namespace tidemark::cmd {

/// Whether the values of a profile go together, those that it inherits included. `given` are the
/// keys that stand in the file, `at` the profile there: an error belongs to the last of the keys
/// that do not go together.
Result<void> CheckProfile(const Profile& profile, const GivenKeys& given, const YamlValue& at);

}  // namespace tidemark::cmd
