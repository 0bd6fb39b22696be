#pragma once
// In which order the rows of a report stand.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cmd/report/report.h"

namespace tidemark::report {

enum class SortBy : uint8_t {
  kSeverity,  ///< the worst first, then what saves most
  kSavings,   ///< what saves most first; what costs more last
  kCpu,       ///< the most reclaimable cores first
  kMemory,    ///< the most reclaimable bytes first
  kName,      ///< cluster, namespace, workload, container
};
inline constexpr std::array<SortBy, 5> kAllSortBy = {SortBy::kSeverity, SortBy::kSavings,
                                                     SortBy::kCpu, SortBy::kMemory, SortBy::kName};
/// "severity", "savings", "cpu", "memory", "name".
std::string_view ToString(SortBy sort);

/// Sorts the rows; those without the figure come last, equal ones by name. `top` above 0 leaves
/// only so many, without a change to the totals.
void SortRows(SortBy sort, size_t top, Report& report);

}  // namespace tidemark::report
