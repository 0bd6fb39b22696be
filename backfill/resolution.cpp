#include "backfill/resolution.h"

#include <algorithm>
#include <string>

#include "backfill/query_text.h"

namespace tidemark::backfill {
namespace {

constexpr int64_t kLookMs = 60 * kMinuteMs;
constexpr size_t kNamespaces = 5;
/// A scrape now and then comes late or fails: an interval is not taken for longer because of it.
constexpr double kSlack = 1.2;
constexpr int64_t kStepUnitMs = 15'000;

}  // namespace

std::optional<int64_t> SampleIntervalMs(Querier& querier, const std::vector<PastMetric>& metrics,
                                        const std::vector<FoundNamespace>& namespaces,
                                        const TimeGrid& grid) {
  const auto metric = std::ranges::find_if(metrics, &PastMetric::is_counter);
  if (metric == metrics.end() || namespaces.empty()) return std::nullopt;
  std::vector<std::string> some;
  for (size_t i = 0; i < std::min(kNamespaces, namespaces.size()); ++i) {
    const size_t at = i * namespaces.size() / std::min(kNamespaces, namespaces.size());
    const std::string& name = namespaces[at].name.name_space;
    if (!name.empty() && std::ranges::find(some, name) == some.end()) some.push_back(name);
  }
  std::string more = IdentityMatchers(*metric).text();
  if (!metric->namespace_label.empty() && !some.empty()) {
    if (!more.empty()) more.append(",");
    more.append(Matchers().OneOf(metric->namespace_label, some).text());
  }
  const std::string query = "max(count_over_time(" + SelectorOf(*metric, more) + "[1h]))";
  std::optional<int64_t> coarsest;
  const int64_t range_ms = grid.end_ms - grid.start_ms;
  for (const int64_t time_ms :
       {grid.end_ms, grid.start_ms + range_ms / 2, grid.start_ms + std::min(range_ms, kLookMs)}) {
    const auto answer = querier.Query(query, time_ms);
    if (!answer || answer->value.series.size() != 1) continue;
    const double count = answer->value.series.front().samples.back().value;
    if (!(count >= 2)) continue;
    const auto interval_ms = static_cast<int64_t>(static_cast<double>(kLookMs) / (count * kSlack));
    coarsest = std::max(coarsest.value_or(0), interval_ms);
  }
  return coarsest;
}

TimeGrid FitStep(const TimeGrid& grid, int64_t interval_ms) {
  if (interval_ms <= grid.step_ms) return grid;
  const int64_t wanted = static_cast<int64_t>(static_cast<double>(interval_ms) * kSlack);
  const int64_t rounded = (wanted + kStepUnitMs / 2) / kStepUnitMs * kStepUnitMs;
  const auto fitted =
      MakeGrid(grid.start_ms, grid.end_ms, std::clamp(rounded, grid.step_ms, kMaxStepMs));
  return fitted ? *fitted : grid;
}

}  // namespace tidemark::backfill
