#include "backfill/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "backfill/query_text.h"

namespace tidemark::backfill {
namespace {

constexpr int64_t kAutoPoints = 8 * 24 * 60;
constexpr int64_t kAutoStepUnitMs = 30'000;
// Of one query, by Prometheus (web/api/v1/api.go) and what follows it.
constexpr int64_t kMaxPointsPerQuery = 11'000;

tl::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

int64_t AutoStep(int64_t range_ms) {
  const int64_t wanted = range_ms / kAutoPoints;
  const int64_t rounded = (wanted + kAutoStepUnitMs - 1) / kAutoStepUnitMs * kAutoStepUnitMs;
  return std::clamp(rounded, kMinuteMs, kMaxStepMs);
}

}  // namespace

Result<TimeGrid> MakeGrid(int64_t start_ms, int64_t end_ms, int64_t step_ms) {
  if (start_ms < 0 || end_ms <= start_ms) {
    return Wrong(fmt::format("start {} is not before end {}, allowed: a start before the end",
                             TimeText(std::max<int64_t>(start_ms, 0)),
                             TimeText(std::max<int64_t>(end_ms, 0))));
  }
  if (end_ms - start_ms > kMaxRangeMs) {
    return Wrong("the range is longer than 400 days, allowed: up to 400 days");
  }
  if (step_ms > kMaxStepMs) {
    return Wrong(
        "a step of over 5 minutes loses usage: counters are not bridged over longer gaps; allowed: "
        "15s to 5m");
  }
  if (step_ms != 0 && step_ms < kMinStepMs) {
    return Wrong(
        "a step under 15 seconds gains nothing: usage is kept by the minute; allowed: "
        "15s to 5m");
  }
  TimeGrid grid;
  grid.step_ms = step_ms == 0 ? AutoStep(end_ms - start_ms) : step_ms;
  grid.start_ms = (start_ms + grid.step_ms - 1) / grid.step_ms * grid.step_ms;
  grid.end_ms = end_ms / grid.step_ms * grid.step_ms;
  if (grid.end_ms < grid.start_ms) {
    return Wrong("the range is shorter than one step, allowed: at least one step");
  }
  return grid;
}

std::vector<NamespaceName> Unit::Names() const {
  std::vector<NamespaceName> names;
  names.reserve(namespaces.size());
  for (const FoundNamespace& found : namespaces) names.push_back(found.name);
  return names;
}

std::vector<FoundNamespace> Unit::WhereKilled() const {
  std::vector<FoundNamespace> some;
  std::ranges::copy_if(namespaces, std::back_inserter(some), &FoundNamespace::killed);
  return some;
}

std::string Unit::Text() const {
  constexpr size_t kShown = 3;
  std::string out;
  for (size_t i = 0; i < std::min(namespaces.size(), kShown); ++i) {
    const NamespaceName& name = namespaces[i].name;
    if (i > 0) out.append(", ");
    if (!name.cluster.empty()) out.append(name.cluster).append("/");
    out.append(name.name_space);
  }
  if (namespaces.size() > kShown) {
    fmt::format_to(std::back_inserter(out), " and {} more", namespaces.size() - kShown);
  }
  return out;
}

std::vector<Unit> PlanUnits(const std::vector<FoundNamespace>& found, const Tuning& tuning) {
  std::vector<Unit> units;
  size_t matcher_bytes = 0;
  for (const FoundNamespace& each : found) {
    const size_t bytes = each.name.name_space.size() * 2 + 1;  // escaped at worst
    const bool fits = !units.empty() && units.back().namespaces.size() < tuning.unit_namespaces &&
                      units.back().series + each.series <= tuning.unit_series &&
                      matcher_bytes + bytes <= tuning.unit_matcher_bytes &&
                      units.back().namespaces.front().query_cluster == each.query_cluster &&
                      units.back().namespaces.front().name.cluster == each.name.cluster;
    if (!fits) {
      units.emplace_back();
      matcher_bytes = 0;
    }
    units.back().namespaces.push_back(each);
    units.back().series += each.series;
    matcher_bytes += bytes;
  }
  return units;
}

int64_t WindowPoints(uint64_t series, uint64_t samples, int64_t step_ms, const Tuning& tuning) {
  const int64_t longest = std::clamp<int64_t>(tuning.max_window.count() / step_ms, kMinWindowPoints,
                                              kMaxPointsPerQuery);
  const uint64_t wanted = samples / std::max<uint64_t>(series, 1);
  if (wanted >= static_cast<uint64_t>(longest)) return longest;
  return std::max(static_cast<int64_t>(wanted), kMinWindowPoints);
}

}  // namespace tidemark::backfill
