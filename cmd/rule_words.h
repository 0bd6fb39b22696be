#pragma once
// The rule of a resource as a sentence. Free function without state, thread-safe.

#include <string>

#include "model/profile.h"
#include "model/resource.h"

namespace tidemark::cmd {

/// What a profile recommends for the resource, from the usage to the last step, and what becomes of
/// it in right-sizing; one line without a full stop.
std::string RuleInWords(const Profile& profile, Resource resource);

}  // namespace tidemark::cmd
