#pragma once
// Charts of one replayed trace: SVG without scripts, to stand inside of a page of HTML.

#include <string>

#include "cmd/replay_policies/drawing.h"

namespace tidemark::replay_policies {

/// Demand (class `truth`), the forecast band (`band`) and what ready pods request by policy (`p0`,
/// `p1`, … in the order of `drawing.policies`), in pods' worth: amounts are divided by `base`.
std::string CapacityChart(const std::string& title, const Stretch& stretch, double base);
/// Replicas by policy.
std::string ReplicasChart(const std::string& title, const Stretch& stretch);

}  // namespace tidemark::replay_policies
