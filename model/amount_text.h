#pragma once
// Amounts of resources as people write them.

#include <string>

#include "model/resource.h"

namespace tidemark {

/// `amount`, in the resource's unit, as a manifest of Kubernetes would have it, to about three
/// digits: cores "217m", "1.5"; bytes "512Mi", "1.2Gi"; ratios "85 %"; of resources that the
/// configuration names "1.25M". Round amounts are exact
/// (250Mi is never 0.24Gi). Below zero with a minus; "unknown" for what is no number. For sentences
/// only: the figure to set is the number beside it. Thread-safe.
std::string AmountText(Resource resource, double amount);

}  // namespace tidemark
