#pragma once
// The annotation tidemark.io/original-resources: what a pod's owner wrote, as it was written.
//
//   {"app":{"requests":{"cpu":"2","memory":"4Gi"},"limits":{"cpu":"4"}}}

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rightsizing/pod_plan.h"

namespace tidemark::rightsizing {

struct OriginalResources {
  QuantityMap requests;
  QuantityMap limits;
};
/// By container.
using OriginalAnnotation = std::map<std::string, OriginalResources, std::less<>>;

/// Larger ones are neither read nor written: workloads/original_resources.h reads no more.
inline constexpr size_t kMaxAnnotationBytes = 16 * 1024;
inline constexpr size_t kMaxAnnotatedContainers = 128;

/// nullopt when the text is no such annotation, is too large, or one of its requests is no quantity
/// or negative. Quantities may be JSON numbers, as in manifests. Any bytes may be given.
std::optional<OriginalAnnotation> ParseOriginalAnnotation(std::string_view text);

/// As JSON, sorted by container and resource; empty parts are left out.
std::string ToJson(const OriginalAnnotation& annotation);

}  // namespace tidemark::rightsizing
