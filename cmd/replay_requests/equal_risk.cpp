#include "cmd/replay_requests/equal_risk.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tidemark::replay_requests {
namespace {

/// In place of none at all, which has no logarithm: next to it any target is far away.
constexpr double kNoRisk = 1e-3;

KnobPoint Between(const KnobPoint& a, const KnobPoint& b, double part, double risk) {
  return {.setting = std::lerp(a.setting, b.setting, part),
          .risk = risk,
          .slack_mean = std::lerp(a.slack_mean, b.slack_mean, part),
          .slack_median = std::lerp(a.slack_median, b.slack_median, part),
          .bill = std::lerp(a.bill, b.bill, part),
          .changes = std::lerp(a.changes, b.changes, part)};
}

}  // namespace

std::optional<KnobPoint> ReadAt(std::span<const KnobPoint> points, double target) {
  if (points.empty()) return std::nullopt;
  size_t after = points.size();
  while (after > 0 && points[after - 1].risk <= target) --after;
  if (after == points.size()) return std::nullopt;
  if (after == 0) return points.front();
  const KnobPoint& above = points[after - 1];
  const KnobPoint& below = points[after];
  const double safe = below.risk > 0 ? below.risk : std::min(kNoRisk, target);
  const double part = std::log(target / above.risk) / std::log(safe / above.risk);
  return Between(above, below, part, target);
}

KnobPoint TurnTo(double setting, const ReplayPreset& preset, Resource resource,
                 std::span<const Trace* const> traces, const ReplayTimes& times) {
  const auto place = static_cast<size_t>(resource);
  const bool by_factor = KnobOf(preset, resource) == Knob::kFactor;
  ByResource<double> factors{1, 1};
  if (by_factor) factors[place] = setting;
  std::vector<Outcome> outcomes;
  for (const Trace* const trace : traces) {
    const auto policy = MakePolicy(
        preset, *trace, by_factor ? std::nullopt : std::optional(KnobSetting{resource, setting}));
    outcomes.push_back(std::move(Evaluate(*trace, *policy, times, factors)[place]));
  }
  std::vector<const Outcome*> of;
  for (const Outcome& outcome : outcomes) of.push_back(&outcome);
  const Means means = MeansOf(of);
  return {.setting = setting,
          .risk = resource == Resource::kMemory ? means.episodes_per_pod_day : means.breach,
          .slack_mean = means.slack_mean,
          .slack_median = means.slack_median,
          .bill = means.bill,
          .changes = means.changes};
}

std::vector<KnobPoint> TurnAll(const ReplayPreset& preset, Resource resource,
                               std::span<const Trace* const> traces, const ReplayTimes& times,
                               const std::function<void()>& step_done) {
  std::vector<KnobPoint> points;
  for (const double setting : SettingsOf(KnobOf(preset, resource))) {
    points.push_back(TurnTo(setting, preset, resource, traces, times));
    step_done();
  }
  return points;
}

}  // namespace tidemark::replay_requests
