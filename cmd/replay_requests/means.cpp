#include "cmd/replay_requests/means.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tidemark::replay_requests {
namespace {

double Median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const size_t half = values.size() / 2;
  std::ranges::sort(values);
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Means MeansOf(std::span<const Outcome* const> outcomes) {
  Means means;
  std::vector<double> slacks;
  double used = 0;
  double requested = 0;
  double pod_days = 0;
  for (const Outcome* const outcome : outcomes) {
    if (outcome->samples == 0) continue;
    ++means.workloads;
    if (const auto slack = outcome->Slack()) slacks.push_back(*slack);
    means.breach += outcome->BreachRatio();
    means.depth += outcome->Depth();
    means.changes += static_cast<double>(outcome->changes);
    means.episodes += outcome->episodes;
    used += outcome->used;
    requested += outcome->requested;
    pod_days += outcome->pod_days;
  }
  if (means.workloads == 0) return means;
  const auto count = static_cast<double>(means.workloads);
  means.breach /= count;
  means.depth /= count;
  means.changes /= count;
  if (!slacks.empty()) {
    means.slack_mean =
        std::accumulate(slacks.begin(), slacks.end(), 0.0) / static_cast<double>(slacks.size());
  }
  means.slack_median = Median(slacks);
  const double bill = requested / used - 1;
  if (used > 0 && std::isfinite(bill)) means.bill = bill;
  if (pod_days > 0) means.episodes_per_pod_day = static_cast<double>(means.episodes) / pod_days;
  return means;
}

}  // namespace tidemark::replay_requests
