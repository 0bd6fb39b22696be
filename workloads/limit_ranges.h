#pragma once
// What the LimitRanges of a namespace ask of each container, as kube-state-metrics tells it: one
// series for each resource and constraint.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/label.h"
#include "model/resource_slots.h"
#include "model/snapshot.h"
#include "workloads/fact.h"

namespace tidemark::workloads {

/// Of cpu, memory and ephemeral storage: minimum, maximum, most of limit / request. A slot's number
/// is part of what is saved.
inline constexpr size_t kLimitRangeSlots = 9;

struct LimitRangeFacts {
  std::array<Fact, kLimitRangeSlots> told;
  uint32_t references = 0;  ///< series that point here
};
using LimitRanges = std::map<std::string, LimitRangeFacts, std::less<>>;  // by name

/// What a series of this kind tells: the labels `resource` and `constraint` (min, max,
/// maxLimitRequestRatio); nullopt of any other, such as defaults.
std::optional<size_t> LimitRangeSlotFrom(LabelsView labels);

/// Of all together, as of this time: the highest minimum, the lowest maximum and ratio. A ratio
/// below 1, which no container could keep, is none.
ResourceSlots<ContainerLimits> StrictestOf(const LimitRanges& ranges, int64_t time_ms);

}  // namespace tidemark::workloads
