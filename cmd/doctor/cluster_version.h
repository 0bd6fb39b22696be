#pragma once
// The cluster's version. For this library's .cpp files only.

#include <optional>

#include "cmd/doctor/asker.h"

namespace tidemark::doctor {

/// The 33 of 1.33; nullopt when it is not told or another major version.
std::optional<int> MinorVersionOf(Asker& kubernetes);

}  // namespace tidemark::doctor
