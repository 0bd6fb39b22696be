#include "workloads/autoscalers.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tidemark::workloads {
namespace {

/// After this what was not told with the rest is not there.
constexpr int64_t kSettledMs = kMinuteMs;

constexpr std::array<std::pair<AutoscalerSlot, Resource>, 2> kTargets = {
    {{AutoscalerSlot::kCpuTarget, Resource::kCpu},
     {AutoscalerSlot::kMemoryTarget, Resource::kMemory}}};

}  // namespace

std::string TargetName(std::string_view workload_type, std::string_view workload) {
  std::string name(workload_type);
  return name.append("/").append(workload);
}

std::string TargetFrom(LabelsView labels) {
  std::string type(FindLabel(labels, "scaletargetref_kind"));
  std::ranges::transform(type, type.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return TargetName(type, FindLabel(labels, "scaletargetref_name"));
}

std::optional<AutoscalerSlot> TargetSlotFrom(LabelsView labels) {
  if (FindLabel(labels, "metric_target_type") != "utilization") return std::nullopt;
  const std::string_view metric = FindLabel(labels, "metric_name");
  if (metric == "cpu") return AutoscalerSlot::kCpuTarget;
  if (metric == "memory") return AutoscalerSlot::kMemoryTarget;
  return std::nullopt;
}

Fact* Autoscalers::Bind(std::string_view name, AutoscalerSlot slot) {
  auto found = all_.find(name);
  if (found == all_.end()) found = all_.emplace(std::string(name), Autoscaler()).first;
  ++found->second.references;
  return &found->second.told[static_cast<size_t>(slot)].fact;
}

void Autoscalers::Release(std::string_view name) {
  const auto found = all_.find(name);
  if (found == all_.end() || --found->second.references > 0) return;
  Retarget(name, found->second, {});
  all_.erase(found);
}

void Autoscalers::Tell(std::string_view name, AutoscalerSlot slot, uint32_t series, Sample sample,
                       std::string_view target) {
  const auto found = all_.find(name);
  if (found == all_.end()) return;
  LastingFact& told = found->second.told[static_cast<size_t>(slot)];
  const bool by_another = told.fact.series != kNoSeries && told.fact.series != series;
  if (by_another && told.fact.last_ms > sample.timestamp_ms) return;
  const bool is_retargeted = slot == AutoscalerSlot::kInfo && found->second.target != target;
  if (is_retargeted || !told.fact.At(sample.timestamp_ms)) told.since_ms = sample.timestamp_ms;
  told.fact.Set(series, sample);
  if (is_retargeted) Retarget(found->first, found->second, target);
}

/// An empty target: it has none.
void Autoscalers::Retarget(std::string_view name, Autoscaler& autoscaler, std::string_view target) {
  if (autoscaler.target == target) return;
  if (const auto old = by_target_.find(autoscaler.target); old != by_target_.end()) {
    if (const auto at = old->second.find(name); at != old->second.end()) old->second.erase(at);
    if (old->second.empty()) by_target_.erase(old);
  }
  autoscaler.target = target;
  if (!target.empty()) by_target_[autoscaler.target].emplace(name);
}

Autoscaler* Autoscalers::Add(std::string_view name) {
  const auto [at, added] = all_.emplace(std::string(name), Autoscaler());
  return added ? &at->second : nullptr;
}

void Autoscalers::SetTarget(std::string_view name, std::string_view target) {
  if (const auto found = all_.find(name); found != all_.end()) {
    Retarget(found->first, found->second, target);
  }
}

const std::set<std::string, std::less<>>* Autoscalers::NamesOf(std::string_view workload_type,
                                                               std::string_view workload) const {
  if (by_target_.empty()) return nullptr;
  const auto names = by_target_.find(TargetName(workload_type, workload));
  return names == by_target_.end() ? nullptr : &names->second;
}

std::optional<ToldBounds> Autoscalers::BoundsOf(std::string_view workload_type,
                                                std::string_view workload, int64_t time_ms) const {
  const auto* const names = NamesOf(workload_type, workload);
  if (names == nullptr) return std::nullopt;
  const int64_t settled_ms = time_ms - kSettledMs;
  for (const std::string& name : *names) {
    const Autoscaler& one = all_.find(name)->second;
    const LastingFact& info = one.Told(AutoscalerSlot::kInfo);
    if (!info.At(time_ms)) continue;
    const LastingFact& most = one.Told(AutoscalerSlot::kMax);
    const auto max = most.At(time_ms);
    if (!max) {
      if (info.since_ms > settled_ms) return std::nullopt;
      continue;
    }
    const auto min = one.Told(AutoscalerSlot::kMin).At(time_ms);
    if (!min && std::max(info.since_ms, most.since_ms) > settled_ms) return std::nullopt;
    return ToldBounds{min, *max, most.fact.last_ms};
  }
  return std::nullopt;
}

std::string_view Autoscalers::FirstOf(std::string_view workload_type, std::string_view workload,
                                      int64_t time_ms) const {
  const auto* const names = NamesOf(workload_type, workload);
  if (names == nullptr) return {};
  for (const std::string& name : *names) {
    if (all_.find(name)->second.Told(AutoscalerSlot::kInfo).At(time_ms)) return name;
  }
  return {};
}

std::vector<ToldUtilization> Autoscalers::UtilizationOf(std::string_view workload_type,
                                                        std::string_view workload,
                                                        int64_t time_ms) const {
  std::vector<ToldUtilization> all;
  const auto* const names = NamesOf(workload_type, workload);
  if (names == nullptr) return all;
  for (const auto& [slot, resource] : kTargets) {
    for (const std::string& name : *names) {
      const Autoscaler& one = all_.find(name)->second;
      if (!one.Told(AutoscalerSlot::kInfo).At(time_ms)) continue;
      const auto percent = one.Told(slot).At(time_ms);
      if (!percent || !(*percent > 0)) continue;
      all.push_back({name, resource, *percent / 100});
      break;
    }
  }
  return all;
}

}  // namespace tidemark::workloads
