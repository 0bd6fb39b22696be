#include "cmd/report/order.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace tidemark::report {
namespace {

auto NameOf(const Row& row) {
  return std::tie(row.id.cluster, row.id.name_space, row.id.workload_type, row.id.workload,
                  row.container);
}

/// Ascending: the most first, what is not known last.
double Down(const std::optional<double>& value) {
  return value ? -*value : std::numeric_limits<double>::infinity();
}

double KeyOf(SortBy sort, const Row& row) {
  switch (sort) {
    case SortBy::kSavings: return Down(row.savings_per_month);
    case SortBy::kCpu: return Down(row.Reclaimable(Resource::kCpu));
    case SortBy::kMemory: return Down(row.Reclaimable(Resource::kMemory));
    case SortBy::kSeverity:
    case SortBy::kName: break;
  }
  return 0;
}

/// Without prices, cores and GiB are held against each other as clouds price them: a core costs
/// about as much as eight GiB.
double WorthOf(const Row& row) {
  constexpr double kGibPerCore = 8;
  constexpr double kGib = 1024.0 * 1024 * 1024;
  if (row.savings_per_month) return *row.savings_per_month;
  return row.Reclaimable(Resource::kCpu).value_or(0) * kGibPerCore +
         row.Reclaimable(Resource::kMemory).value_or(0) / kGib;
}

}  // namespace

std::string_view ToString(SortBy sort) {
  switch (sort) {
    case SortBy::kSeverity: return "severity";
    case SortBy::kSavings: return "savings";
    case SortBy::kCpu: return "cpu";
    case SortBy::kMemory: return "memory";
    case SortBy::kName: return "name";
  }
  return "unknown";
}

void SortRows(SortBy sort, size_t top, Report& report) {
  std::ranges::stable_sort(report.rows, [sort](const Row& a, const Row& b) {
    if (sort == SortBy::kSeverity) {
      // The more is missing, the worse; the more is reclaimable, the better to know.
      const auto key = [](const Row& row) {
        const double worth = WorthOf(row);
        return std::pair(row.severity, row.severity == Severity::kCritical ? worth : -worth);
      };
      const auto of_a = key(a);
      const auto of_b = key(b);
      if (of_a != of_b) return of_a < of_b;
    }
    const double key_a = KeyOf(sort, a);
    const double key_b = KeyOf(sort, b);
    if (key_a != key_b) return key_a < key_b;
    return NameOf(a) < NameOf(b);
  });
  if (top > 0 && report.rows.size() > top) {
    report.rows.erase(report.rows.begin() + static_cast<std::ptrdiff_t>(top), report.rows.end());
  }
}

}  // namespace tidemark::report
