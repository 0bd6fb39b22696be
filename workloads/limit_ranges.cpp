#include "workloads/limit_ranges.h"

#include <cmath>
#include <string_view>

namespace tidemark::workloads {
namespace {

constexpr std::array<Resource, 3> kResources = {Resource::kCpu, Resource::kMemory,
                                                Resource::kEphemeralStorage};
constexpr std::array<std::string_view, 3> kConstraints = {"min", "max", "maxLimitRequestRatio"};
static_assert(kResources.size() * kConstraints.size() == kLimitRangeSlots);

void Raise(std::optional<double>& to, double value) {
  if (!to || value > *to) to = value;
}

void Lower(std::optional<double>& to, double value) {
  if (!to || value < *to) to = value;
}

}  // namespace

std::optional<size_t> LimitRangeSlotFrom(LabelsView labels) {
  const auto resource = ParseResource(FindLabel(labels, "resource"));
  const std::string_view constraint = FindLabel(labels, "constraint");
  for (size_t r = 0; r < kResources.size(); ++r) {
    if (resource != kResources[r]) continue;
    for (size_t c = 0; c < kConstraints.size(); ++c) {
      if (constraint == kConstraints[c]) return r * kConstraints.size() + c;
    }
  }
  return std::nullopt;
}

ResourceSlots<ContainerLimits> StrictestOf(const LimitRanges& ranges, int64_t time_ms) {
  ResourceSlots<ContainerLimits> strictest;
  for (const auto& [name, range] : ranges) {
    for (size_t slot = 0; slot < kLimitRangeSlots; ++slot) {
      const auto value = range.told[slot].At(time_ms);
      if (!value || !std::isfinite(*value)) continue;
      const size_t constraint = slot % kConstraints.size();
      if (constraint == 2 && *value < 1) continue;
      ContainerLimits& limits = strictest.At(kResources[slot / kConstraints.size()]);
      if (constraint == 0) Raise(limits.min, *value);
      if (constraint == 1) Lower(limits.max, *value);
      if (constraint == 2) Lower(limits.max_limit_request_ratio, *value);
    }
  }
  return strictest;
}

}  // namespace tidemark::workloads
