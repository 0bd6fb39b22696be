#include "cmd/replay_requests/equal_risk.h"

#include <cmath>
#include <iterator>

namespace tidemark::replay_requests {
namespace {

KnobPoint Between(const KnobPoint& a, const KnobPoint& b, double part) {
  return {.setting = std::lerp(a.setting, b.setting, part),
          .risk = std::exp(std::lerp(std::log(a.risk), std::log(b.risk), part)),
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
  if (!(below.risk > 0)) return below;
  const double part = std::log(target / above.risk) / std::log(below.risk / above.risk);
  return Between(above, below, part);
}

KnobPoint TurnTo(double setting, const ReplayPreset& preset, Resource resource,
                 std::span<const Trace* const> traces, const ReplayTimes& times) {
  const auto place = static_cast<size_t>(resource);
  const bool by_factor = KnobOf(preset, resource) == Knob::kFactor;
  ByResource<double> factors{1, 1};
  if (by_factor) factors[place] = setting;
  std::vector<Outcome> outcomes;
  for (const Trace* const trace : traces) {
    const auto policy =
        MakePolicy(preset, *trace, by_factor ? std::nullopt : std::optional(setting));
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

EqualRisk FindEqualRisk(const ReplayPreset& preset, Resource resource, double target,
                        std::span<const Trace* const> traces, const ReplayTimes& times,
                        const std::function<void()>& step_done) {
  EqualRisk found{.preset = preset.name,
                  .resource = resource,
                  .knob = KnobOf(preset, resource),
                  .target = target,
                  .point = std::nullopt};
  std::vector<KnobPoint> points;
  for (const double setting : SettingsOf(found.knob)) {
    points.push_back(TurnTo(setting, preset, resource, traces, times));
    step_done();
  }
  found.point = ReadAt(points, target);
  return found;
}

}  // namespace tidemark::replay_requests
