#pragma once
// What stands in the cells of the table, in Markdown and HTML: the same texts in all three. Amounts
// as people write them (model/amount_text.h). Pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/report/report.h"

namespace tidemark::report {

struct Column {
  std::string_view title;
  bool right = false;  ///< numbers
};

/// A table of texts: one row of texts per line, as many as columns.
struct Sheet {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> lines;
  std::vector<std::optional<Severity>> severities;  ///< of each line; nothing: a total
};

/// The index of the column "SEVERITY" of ContainersSheet.
inline constexpr std::string_view kSeverityTitle = "SEVERITY";

/// One line per row. A column `cluster` only where any row has one, savings only where prices are
/// known.
Sheet ContainersSheet(const Report& report);
/// One line per namespace, and one of all when there are several.
Sheet NamespacesSheet(const Report& report);

/// `1 -> 230m (limit 2)`; `-` where a side is not known; a single `-` when there is nothing at all.
std::string ChangeText(const Cell* cell);
/// `USD 50.40`, with a minus in front of the amount.
std::string MoneyText(const Prices& prices, double amount);
std::string ReplicasText(double replicas);
/// What the report is of: `http://p:9090, 2026-11-01T00:00:00Z to 2026-11-08T00:00:00Z, ...`.
std::string SourceText(const Report& report);
/// `2026-11-01T00:00:00Z`
std::string TimeText(int64_t unix_ms);
/// `14 containers: 3 critical, 5 warning, 6 ok, 0 unknown`, and how many are shown.
std::string SummaryText(const Report& report);
/// What has to be known to read the tables: of which containers the sums are, what was left out,
/// what an autoscaler changes. In whole sentences, most of the time some.
std::vector<std::string> Remarks(const Report& report);

}  // namespace tidemark::report
