#pragma once
// A plan of right-sizing as a JSON Patch (RFC 6902).

#include <string>
#include <string_view>

#include "kubernetes/admission_review.h"
#include "rightsizing/pod_plan.h"

namespace tidemark::kubernetes {

/// A key as a part of a JSON pointer (RFC 6901): "~" is "~0", "/" is "~1".
std::string EscapedKey(std::string_view key);

/// `add` operations only: objects where there are none yet (one that stands there would be wiped),
/// then annotations and requests; `add` of a key that is there replaces it. "[]" for an empty plan.
/// Thread-safe.
std::string PodPatch(const ReviewedPod& pod, const rightsizing::PodPlan& plan);

}  // namespace tidemark::kubernetes
