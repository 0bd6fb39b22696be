#include "cmd/replay_requests/replay.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tidemark::replay_requests {
namespace {

std::optional<double> TargetOf(const ReplayOptions& options, Resource resource) {
  return resource == Resource::kCpu ? options.at_breach : options.at_kills;
}

size_t PartsOf(size_t traces, std::span<const ReplayPreset> presets, const ReplayOptions& options) {
  size_t parts = traces * presets.size();
  for (const Resource resource : kReplayed) {
    if (!TargetOf(options, resource)) continue;
    for (const ReplayPreset& preset : presets) parts += SettingsOf(KnobOf(preset, resource)).size();
  }
  return parts;
}

}  // namespace

Result<ReplayReport> Replay(std::vector<Trace> traces, std::span<const ReplayPreset> presets,
                            const ReplayOptions& options, const ReplayProgress& progress) {
  for (const Trace& trace : traces) {
    if (auto good = CheckTimes(trace, options.times); !good) return tl::unexpected(good.error());
  }
  ReplayReport report{.traces = std::move(traces),
                      .presets = {},
                      .options = options,
                      .outcomes = {},
                      .equal_risks = {}};
  for (const ReplayPreset& preset : presets) report.presets.push_back(preset.name);
  const size_t total = PartsOf(report.traces.size(), presets, options);
  size_t done = 0;
  const auto step_done = [&] { progress(++done, total); };
  for (const Trace& trace : report.traces) {
    auto& of_trace = report.outcomes.emplace_back();
    for (const ReplayPreset& preset : presets) {
      of_trace.push_back(Evaluate(trace, *MakePolicy(preset, trace), options.times));
      step_done();
    }
  }
  const std::vector<TraceGroup> groups = GroupsOf(report.traces);
  std::vector<const Trace*> all;
  for (const size_t t : groups.front().traces) all.push_back(&report.traces[t]);
  for (const Resource resource : kReplayed) {
    const auto target = TargetOf(options, resource);
    if (!target) continue;
    for (const ReplayPreset& preset : presets) {
      const auto points = TurnAll(preset, resource, all, options.times, step_done);
      report.equal_risks.push_back({.preset = preset.name,
                                    .resource = resource,
                                    .knob = KnobOf(preset, resource),
                                    .target = *target,
                                    .point = ReadAt(points, *target)});
    }
  }
  return report;
}

std::vector<TraceGroup> GroupsOf(std::span<const Trace> traces) {
  std::vector<TraceGroup> groups(1);
  groups[0].name = "all";
  const bool any_real = std::ranges::any_of(traces, &Trace::real);
  for (size_t t = 0; t < traces.size(); ++t) {
    if (traces[t].real || !any_real) groups[0].traces.push_back(t);
    if (traces[t].kind.empty()) continue;
    const auto group = std::find_if(groups.begin() + 1, groups.end(), [&](const TraceGroup& known) {
      return known.name == traces[t].kind;
    });
    if (group != groups.end()) {
      group->traces.push_back(t);
    } else {
      groups.push_back({traces[t].kind, {t}});
    }
  }
  return groups;
}

Means MeansOf(const ReplayReport& report, const TraceGroup& group, size_t preset, size_t resource) {
  std::vector<const Outcome*> outcomes;
  for (const size_t t : group.traces) outcomes.push_back(&report.outcomes[t][preset][resource]);
  return MeansOf(outcomes);
}

std::optional<double> OriginalSlack(const Trace& trace, const Outcome& outcome, size_t resource) {
  if (!trace.original[resource] || !(outcome.used > 0)) return std::nullopt;
  return *trace.original[resource] * static_cast<double>(outcome.samples) / outcome.used - 1;
}

}  // namespace tidemark::replay_requests
