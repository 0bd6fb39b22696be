#include "cmd/report/cells.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/amount_text.h"

namespace tidemark::report {
namespace {

std::string AmountOrDash(Resource resource, const std::optional<double>& amount) {
  return amount ? AmountText(resource, *amount) : "-";
}

std::string MoneyOrDash(const Prices& prices, const std::optional<double>& amount) {
  return amount ? MoneyText(prices, *amount) : "-";
}

std::string WorkloadText(const Row& row) {
  return fmt::format("{}/{}{}", row.id.workload_type, row.id.workload,
                     row.autoscaler == nullptr ? "" : " (HPA)");
}

std::string SumText(Resource resource, const RequestSums& sums) {
  if (sums.known == 0) return "-";
  return fmt::format("{} -> {}", AmountText(resource, sums.current),
                     AmountText(resource, sums.recommended));
}

bool HasClusters(const Report& report) {
  return std::ranges::any_of(report.namespaces,
                             [](const Totals& totals) { return !totals.cluster.empty(); });
}

void AddTotals(const Totals& totals, const std::string& name, const Report& report, bool clusters,
               Sheet& sheet) {
  std::vector<std::string>& line = sheet.lines.emplace_back();
  if (clusters) line.push_back(totals.cluster.empty() ? "-" : totals.cluster);
  line.push_back(name);
  line.push_back(fmt::format("{}", totals.Containers()));
  for (const Resource resource : kRequestedResources) {
    line.push_back(SumText(resource, totals.sums.Of(resource)));
  }
  for (const Resource resource : kRequestedResources) {
    const RequestSums& sums = totals.sums.Of(resource);
    line.push_back(sums.known == 0 ? "-" : AmountText(resource, sums.reclaimable));
  }
  if (report.prices.Any()) line.push_back(MoneyOrDash(report.prices, totals.savings_per_month));
  for (const uint64_t count : totals.severities) line.push_back(fmt::format("{}", count));
  sheet.severities.emplace_back();
}

/// How many containers the sums of a resource leave out.
uint64_t LeftOut(const RequestSums& sums) { return sums.Containers() - sums.known; }

}  // namespace

std::string ChangeText(const Cell* cell) {
  if (cell == nullptr) return "-";
  const ResourceAdvice& advice = cell->advice;
  if (!advice.current_request && !advice.recommended_request && !advice.current_limit) return "-";
  std::string text = fmt::format("{} -> {}", AmountOrDash(advice.resource, advice.current_request),
                                 AmountOrDash(advice.resource, advice.recommended_request));
  if (advice.current_limit) {
    text += fmt::format(" (limit {})", AmountText(advice.resource, *advice.current_limit));
  }
  return text;
}

std::string MoneyText(const Prices& prices, double amount) {
  // Never "-0.00".
  const double cents = std::round(amount * 100);
  return fmt::format("{} {:.2f}", prices.currency, cents == 0 ? 0 : cents / 100);
}

std::string ReplicasText(double replicas) { return fmt::format("{}", std::round(replicas)); }

std::string TimeText(int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)));
}

std::string SourceText(const Report& report) {
  return fmt::format("{}, {} to {}, {}", report.prometheus, TimeText(report.start_ms),
                     TimeText(report.end_ms), report.profiles);
}

std::string SummaryText(const Report& report) {
  std::string text = fmt::format("{} containers:", report.total.Containers());
  for (size_t i = 0; i < kSeverityCount; ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", report.total.severities[i],
                        ToString(static_cast<Severity>(i)));
  }
  if (report.rows.size() < report.rows_in_all) {
    text += fmt::format("; the first {} are shown, sums are of all", report.rows.size());
  }
  return text;
}

std::vector<std::string> Remarks(const Report& report) {
  std::vector<std::string> remarks = {
      "Requests and limits are per pod, of the newest pod; reclaimable amounts and sums are per "
      "pod "
      "times replicas."};
  for (const Resource resource : kRequestedResources) {
    const RequestSums& sums = report.total.sums.Of(resource);
    if (LeftOut(sums) == 0) continue;
    remarks.push_back(
        fmt::format("The sums of {} are of {} of {} containers: {} have no request, {} no "
                    "recommendation yet.",
                    ResourceName(resource), sums.known, sums.Containers(),
                    sums.Of(RequestFit::kAbsent), sums.Of(RequestFit::kUnknown)));
  }
  const bool scaled =
      std::ranges::any_of(report.rows, [](const Row& row) { return row.autoscaler != nullptr; });
  if (scaled) {
    const bool by_request = std::ranges::any_of(report.rows, [](const Row& row) {
      return row.autoscaler != nullptr && row.autoscaler->by_request;
    });
    remarks.push_back(fmt::format(
        "(HPA): a HorizontalPodAutoscaler scales it{}.",
        by_request ? "; some go by use as a share of the request, so that another request changes "
                     "how many pods they ask for: change their target with it"
                   : ""));
  }
  if (report.workloads_left_out > 0) {
    remarks.push_back(fmt::format("{} workloads without pods now are left out; --all shows them.",
                                  report.workloads_left_out));
  }
  if (report.prices.Any()) {
    remarks.push_back(fmt::format(
        "Savings are per month of {} hours, negative where more is needed.", kHoursPerMonth));
  }
  return remarks;
}

Sheet ContainersSheet(const Report& report) {
  const bool clusters = HasClusters(report);
  Sheet sheet;
  if (clusters) sheet.columns.push_back({"CLUSTER"});
  for (const Column& column :
       {Column{"NAMESPACE"}, Column{"WORKLOAD"}, Column{"CONTAINER"}, Column{"REPLICAS", true},
        Column{"CPU"}, Column{"MEMORY"}, Column{"RECLAIM CPU", true},
        Column{"RECLAIM MEMORY", true}, Column{"DAYS", true}}) {
    sheet.columns.push_back(column);
  }
  if (report.prices.Any()) sheet.columns.push_back({"SAVES/MONTH", true});
  sheet.columns.push_back({kSeverityTitle});
  for (const Row& row : report.rows) {
    std::vector<std::string>& line = sheet.lines.emplace_back();
    if (clusters) line.push_back(row.id.cluster.empty() ? "-" : row.id.cluster);
    line.push_back(row.id.name_space);
    line.push_back(WorkloadText(row));
    line.push_back(row.container.empty() ? "-" : row.container);
    line.push_back(ReplicasText(row.replicas));
    line.push_back(ChangeText(row.Find(Resource::kCpu)));
    line.push_back(ChangeText(row.Find(Resource::kMemory)));
    line.push_back(AmountOrDash(Resource::kCpu, row.Reclaimable(Resource::kCpu)));
    line.push_back(AmountOrDash(Resource::kMemory, row.Reclaimable(Resource::kMemory)));
    line.push_back(fmt::format("{:.1f}", row.confidence_days));
    if (report.prices.Any()) line.push_back(MoneyOrDash(report.prices, row.savings_per_month));
    line.emplace_back(ToString(row.severity));
    sheet.severities.emplace_back(row.severity);
  }
  return sheet;
}

Sheet NamespacesSheet(const Report& report) {
  const bool clusters = HasClusters(report);
  Sheet sheet;
  if (clusters) sheet.columns.push_back({"CLUSTER"});
  for (const Column& column :
       {Column{"NAMESPACE"}, Column{"CONTAINERS", true}, Column{"CPU"}, Column{"MEMORY"},
        Column{"RECLAIM CPU", true}, Column{"RECLAIM MEMORY", true}}) {
    sheet.columns.push_back(column);
  }
  if (report.prices.Any()) sheet.columns.push_back({"SAVES/MONTH", true});
  for (const std::string_view title : {"CRITICAL", "WARNING", "OK", "UNKNOWN"}) {
    sheet.columns.push_back({title, true});
  }
  for (const Totals& totals : report.namespaces) {
    AddTotals(totals, totals.name_space, report, clusters, sheet);
  }
  if (report.namespaces.size() > 1) AddTotals(report.total, "all", report, clusters, sheet);
  return sheet;
}

}  // namespace tidemark::report
