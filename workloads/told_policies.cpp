#include "workloads/told_policies.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tidemark::workloads {
namespace {

constexpr std::array<std::pair<std::string_view, LimitRanges::Constraint>, 3> kConstraints = {
    {{"min", LimitRanges::Constraint::kMin},
     {"max", LimitRanges::Constraint::kMax},
     {"maxLimitRequestRatio", LimitRanges::Constraint::kMaxRatio}}};

/// As kube-state-metrics writes resources of requests; only those that requests are corrected of.
std::optional<Resource> RequestedResource(std::string_view name) {
  if (name == "cpu") return Resource::kCpu;
  if (name == "memory") return Resource::kMemory;
  if (name == "ephemeral-storage" || name == "ephemeral_storage") {
    return Resource::kEphemeralStorage;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Resource> UtilizationTargets::ResourceOf(LabelsView labels) {
  if (FindLabel(labels, "metric_target_type") != "utilization") return std::nullopt;
  const std::string_view name = FindLabel(labels, "metric_name");
  if (name == "cpu") return Resource::kCpu;
  if (name == "memory") return Resource::kMemory;
  return std::nullopt;
}

Fact* UtilizationTargets::Bind(std::string_view autoscaler, Resource resource) {
  Told& told = told_[{std::string(autoscaler), resource}];
  ++told.references;
  return &told.fact;
}

void UtilizationTargets::Release(std::string_view autoscaler, Resource resource) {
  const auto found = told_.find({std::string(autoscaler), resource});
  if (found != told_.end() && --found->second.references == 0) told_.erase(found);
}

std::optional<double> UtilizationTargets::At(std::string_view autoscaler, Resource resource,
                                             int64_t time_ms) const {
  constexpr double kPercent = 100;
  if (told_.empty()) return std::nullopt;
  const auto found = told_.find({std::string(autoscaler), resource});
  if (found == told_.end()) return std::nullopt;
  const auto percent = found->second.fact.At(time_ms);
  if (!percent || !std::isfinite(*percent) || !(*percent > 0)) return std::nullopt;
  return *percent / kPercent;
}

std::optional<LimitRanges::Key> LimitRanges::KeyOf(std::string_view limit_range,
                                                   LabelsView labels) {
  if (FindLabel(labels, "type") != "Container") return std::nullopt;
  const auto resource = RequestedResource(FindLabel(labels, "resource"));
  const std::string_view constraint = FindLabel(labels, "constraint");
  const auto* const known =
      std::ranges::find(kConstraints, constraint, &std::pair<std::string_view, Constraint>::first);
  if (!resource || known == kConstraints.end()) return std::nullopt;
  return Key(limit_range, *resource, known->second);
}

std::string LimitRanges::TextOf(const Key& key) {
  std::string text(ResourceName(std::get<Resource>(key)));
  text += '/';
  text += kConstraints[static_cast<size_t>(std::get<Constraint>(key))].first;
  return text;
}

std::optional<LimitRanges::Key> LimitRanges::KeyFrom(std::string_view limit_range,
                                                     std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto resource = ParseResource(text.substr(0, slash));
  const auto* const known = std::ranges::find(kConstraints, text.substr(slash + 1),
                                              &std::pair<std::string_view, Constraint>::first);
  if (!resource || known == kConstraints.end()) return std::nullopt;
  return Key(limit_range, *resource, known->second);
}

Fact* LimitRanges::Bind(const Key& key) {
  Told& told = told_[key];
  ++told.references;
  return &told.fact;
}

void LimitRanges::Release(const Key& key) {
  const auto found = told_.find(key);
  if (found != told_.end() && --found->second.references == 0) told_.erase(found);
}

ResourceSlots<ContainerLimits> LimitRanges::At(int64_t time_ms) const {
  ResourceSlots<ContainerLimits> limits;
  for (const auto& [key, told] : told_) {
    const auto value = told.fact.At(time_ms);
    if (!value || !std::isfinite(*value) || *value < 0) continue;
    ContainerLimits& of = limits.At(std::get<Resource>(key));
    const auto at_most = [&](std::optional<double>& bound) {
      bound = bound ? std::min(*bound, *value) : *value;
    };
    switch (std::get<Constraint>(key)) {
      case Constraint::kMin: of.min = std::max(of.min.value_or(0), *value); break;
      case Constraint::kMax: at_most(of.max); break;
      case Constraint::kMaxRatio:
        if (*value >= 1) at_most(of.max_limit_request_ratio);
        break;
    }
  }
  return limits;
}

}  // namespace tidemark::workloads
