#pragma once
// Presets at the same risk: what a request costs says nothing without what it risks, so each
// preset's own knob is turned until the set's risk falls to a target, and its cost is read there.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cmd/replay_requests/evaluation.h"
#include "cmd/replay_requests/means.h"
#include "cmd/replay_requests/preset.h"

namespace tidemark::replay_requests {

/// What the set does at one setting of a knob. The risk of CPU is the mean share of samples above
/// the request; that of memory kills per pod and day.
struct KnobPoint {
  double setting = 0;
  double risk = 0;
  double slack_mean = 0;
  double slack_median = 0;
  double bill = 0;
  double changes = 0;
};

/// Between the last setting at which the risk is above the target and the next, linear against the
/// logarithm of the risk. The first setting when none is above; nothing when the last still is.
/// `points` ascend from careless to careful; `target` is above 0.
std::optional<KnobPoint> ReadAt(std::span<const KnobPoint> points, double target);

/// The traces at one setting of the preset's knob for `resource`. None of them may be empty.
KnobPoint TurnTo(double setting, const ReplayPreset& preset, Resource resource,
                 std::span<const Trace* const> traces, const ReplayTimes& times);

struct EqualRisk {
  std::string preset;
  Resource resource = Resource::kCpu;
  Knob knob = Knob::kFactor;
  double target = 0;
  std::optional<KnobPoint> point{};  ///< absent: the knob does not reach the target
};

/// All settings of the preset's knob. `step_done` is called after each.
std::vector<KnobPoint> TurnAll(const ReplayPreset& preset, Resource resource,
                               std::span<const Trace* const> traces, const ReplayTimes& times,
                               const std::function<void()>& step_done);

}  // namespace tidemark::replay_requests
