#pragma once
// How urgent a row of the report is.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/request_sums.h"
#include "model/snapshot.h"

namespace tidemark::report {

/// The worst first.
enum class Severity : uint8_t {
  kCritical,  ///< was killed for memory, or requests less memory than it needs
  kWarning,   ///< requests four times as much as it needs, too little CPU, or nothing
  kOk,
  kUnknown,  ///< nothing is recommended yet
};
inline constexpr size_t kSeverityCount = 4;
/// "critical", "warning", "ok", "unknown".
std::string_view ToString(Severity severity);

/// Of one container: the worst of what its CPU and memory say; unknown only when neither says
/// anything. A container that requests nothing although a request is recommended is a warning: such
/// pods are the first to be evicted. That holds only where requests are told at all: `told`.
Severity SeverityOf(std::span<const ResourceAdvice* const> resources, bool told);

}  // namespace tidemark::report
