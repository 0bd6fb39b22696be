#include "cmd/replay_requests/trace_builder.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "cmd/replay_requests/trace_files.h"

namespace tidemark::replay_requests {
namespace {

std::string NameOf(const WorkloadId& workload, const std::string& container) {
  std::string name;
  for (const std::string* const part : {&workload.name_space, &workload.workload, &container}) {
    if (part->empty()) continue;
    if (!name.empty()) name += '/';
    name += *part;
  }
  return name.empty() ? "query" : name;
}

}  // namespace

TraceBuilder::TraceBuilder(int64_t start_ms, int64_t end_ms, int64_t step_ms)
    : start_ms_(start_ms),
      step_ms_(step_ms),
      steps_(static_cast<size_t>((end_ms - start_ms) / step_ms + 1)) {}

Result<void> TraceBuilder::Add(const WorkloadId& workload, const std::string& container,
                               const std::string& pod, size_t resource,
                               const std::vector<Sample>& samples) {
  Building& building = traces_[{workload, container}];
  Trace& trace = building.trace;
  const auto [place, added] = building.pods.try_emplace(pod, trace.pods.size());
  if (added) {
    cells_ += steps_;
    if (cells_ > kMaxCellsOfAll || trace.pods.size() >= kMaxPods) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("too much history for one run, allowed: {} steps of all pods "
                              "together; --namespace, --workload, a longer --step or a later "
                              "--start make it less",
                              kMaxCellsOfAll));
    }
    PodUsage& usage = trace.pods.emplace_back();
    usage.pod = pod;
    for (auto& column : usage.samples) column.assign(steps_, kAbsent);
  }
  std::vector<double>& column = trace.pods[place->second].samples[resource];
  const double most = resource == 0 ? kMaxCores : kMaxBytes;
  for (const Sample& sample : samples) {
    const int64_t behind = sample.timestamp_ms - start_ms_;
    if (behind < 0 || behind % step_ms_ != 0) continue;
    const auto step = static_cast<size_t>(behind / step_ms_);
    if (step >= steps_ || !(sample.value >= 0) || sample.value > most) continue;
    // Two series of one pod's container are two runs of it: the levels of one have ended.
    double& cell = column[step];
    cell = IsThere(cell) ? std::max(cell, sample.value) : sample.value;
  }
  return {};
}

void TraceBuilder::SetOriginal(const WorkloadId& workload, const std::string& container,
                               size_t resource, double amount) {
  const auto found = traces_.find({workload, container});
  const double most = resource == 0 ? kMaxCores : kMaxBytes;
  if (found == traces_.end() || !(amount > 0) || amount > most) return;
  auto& original = found->second.trace.original[resource];
  original = std::max(original.value_or(0), amount);
}

std::vector<Trace> TraceBuilder::Take() {
  std::vector<Trace> traces;
  for (auto& [key, building] : traces_) {
    Trace& trace = building.trace;
    trace.workload = key.first;
    trace.container = key.second;
    trace.name = NameOf(trace.workload, trace.container);
    trace.start_ms = start_ms_;
    trace.step_ms = step_ms_;
    trace.steps = steps_;
    traces.push_back(std::move(trace));
  }
  traces_.clear();
  return traces;
}

}  // namespace tidemark::replay_requests
