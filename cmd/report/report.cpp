#include "cmd/report/report.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "model/advice_text.h"
#include "model/label.h"

namespace tidemark::report {
namespace {

bool IsShown(Resource resource) {
  return std::ranges::find(kRequestedResources, resource) != kRequestedResources.end();
}

/// Processes request nothing, ever; of containers it is an omission.
bool TellsRequests(const WorkloadAdvice& workload) {
  return workload.id.workload_type != "process";
}

bool HasPods(const WorkloadAdvice& workload) {
  if (workload.replicas > 0 || !TellsRequests(workload)) return true;
  // Between two runs there is nothing, and that is as it should be.
  return workload.id.workload_type == "cronjob" || workload.id.workload_type == "advancedcronjob";
}

bool Matches(const Filter& filter, const WorkloadAdvice& workload,
             const ContainerAdvice& container) {
  const WorkloadId& id = workload.id;
  const std::string name = id.workload_type + "/" + id.workload;
  const std::array<LabelView, 6> labels = {{{"cluster", id.cluster},
                                            {"container", container.container},
                                            {"name", name},
                                            {"namespace", id.name_space},
                                            {"workload", id.workload},
                                            {"workload_type", id.workload_type}}};
  if (!filter.selector.Matches(labels)) return false;
  if (filter.workloads.Matches(labels)) return true;
  // A name alone is as good as TYPE/NAME.
  std::array<LabelView, 6> by_name = labels;
  by_name[2].value = id.workload;
  return filter.workloads.Matches(by_name);
}

Row RowOf(const WorkloadAdvice& workload, const ContainerAdvice& container, const Prices& prices) {
  Row row;
  row.id = workload.id;
  row.container = container.container;
  row.replicas = workload.replicas;
  if (container.profile != nullptr) row.profile = container.profile->name;
  std::vector<const ResourceAdvice*> judged;
  std::optional<double> days;
  for (const ResourceAdvice& advice : container.resources) {
    Cell& cell = row.cells.emplace_back();
    cell.advice = advice;
    cell.fit = FitOf(advice);
    cell.savings_per_month = MonthlySavings(prices, advice);
    if (container.profile != nullptr) cell.reason = AdviceText(*container.profile, advice);
    AddKnown(cell.savings_per_month, row.savings_per_month);
    if (!IsShown(advice.resource)) continue;
    judged.push_back(&advice);
    if (advice.recommended_request) {
      days = std::min(days.value_or(advice.confidence_days), advice.confidence_days);
    }
  }
  row.confidence_days = days.value_or(0);
  row.severity = SeverityOf(judged, TellsRequests(workload));
  return row;
}

void Add(const Row& row, const WorkloadAdvice& workload, Totals& totals) {
  for (const Cell& cell : row.cells) totals.sums.Add(workload, cell.advice);
  ++totals.severities[static_cast<size_t>(row.severity)];
  AddKnown(row.savings_per_month, totals.savings_per_month);
}

}  // namespace

const Cell* Row::Find(Resource resource) const {
  const auto found = std::ranges::find_if(
      cells, [resource](const Cell& cell) { return cell.advice.resource == resource; });
  return found == cells.end() ? nullptr : &*found;
}

std::optional<double> Row::Reclaimable(Resource resource) const {
  const Cell* const cell = Find(resource);
  return cell == nullptr ? std::nullopt : cell->advice.reclaimable;
}

uint64_t Totals::Containers() const {
  return std::accumulate(severities.begin(), severities.end(), uint64_t{0});
}

Report MakeReport(const Snapshot& snapshot, const Filter& filter, const Prices& prices,
                  Autoscalers autoscalers) {
  Report report;
  report.prices = prices;
  report.resources = snapshot.resources;
  report.autoscalers = std::move(autoscalers);
  for (const auto& block : snapshot.blocks) {
    Totals totals;
    totals.cluster = block->cluster;
    totals.name_space = block->name_space;
    for (const WorkloadAdvice& workload : block->workloads) {
      const WorkloadId& id = workload.id;
      const auto scaled =
          report.autoscalers.find({id.cluster, id.name_space, id.workload_type, id.workload});
      bool left_out = false;
      for (const ContainerAdvice& container : workload.containers) {
        if (!Matches(filter, workload, container)) continue;
        left_out = !filter.without_pods && !HasPods(workload);
        if (left_out) break;
        Row& row = report.rows.emplace_back(RowOf(workload, container, prices));
        if (scaled != report.autoscalers.end()) row.autoscaler = &scaled->second;
        Add(row, workload, totals);
        Add(row, workload, report.total);
      }
      report.workloads_left_out += left_out ? 1 : 0;
    }
    if (totals.Containers() > 0) report.namespaces.push_back(std::move(totals));
  }
  report.rows_in_all = report.rows.size();
  return report;
}

}  // namespace tidemark::report
