#pragma once
// All traces through all presets.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cmd/replay_requests/equal_risk.h"
#include "cmd/replay_requests/evaluation.h"
#include "cmd/replay_requests/means.h"
#include "cmd/replay_requests/preset.h"
#include "cmd/replay_requests/trace.h"
#include "model/result.h"

namespace tidemark::replay_requests {

struct ReplayOptions {
  ReplayTimes times{};
  std::optional<double> at_breach{};  ///< CPU at this mean share of samples above the request, too
  std::optional<double> at_kills{};   ///< memory at so many kills per pod and day, too
};

struct ReplayReport {
  std::vector<Trace> traces;
  std::vector<std::string> presets;
  ReplayOptions options;
  std::vector<std::vector<ByResource<Outcome>>> outcomes;  ///< by trace, then by preset
  std::vector<EqualRisk> equal_risks;                      ///< by resource, then by preset
};

/// Of `total` parts so many are done.
using ReplayProgress = std::function<void(size_t done, size_t total)>;

/// Everything in the calling thread. kInvalidArgument as CheckTimes.
Result<ReplayReport> Replay(std::vector<Trace> traces, std::span<const ReplayPreset> presets,
                            const ReplayOptions& options, const ReplayProgress& progress);

/// Traces whose means are shown together.
struct TraceGroup {
  std::string name;  ///< the class, or "all"
  std::vector<size_t> traces;
};
/// All real traces (all of them when none is), as "all", then each class in order of appearance.
std::vector<TraceGroup> GroupsOf(std::span<const Trace> traces);

Means MeansOf(const ReplayReport& report, const TraceGroup& group, size_t preset, size_t resource);

/// What the owner's size would have cost on the samples of an outcome; absent where it is not
/// known.
std::optional<double> OriginalSlack(const Trace& trace, const Outcome& outcome, size_t resource);

}  // namespace tidemark::replay_requests
