#pragma once
// The resources that a container uses and requests, named as kube-state-metrics names them.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark {

enum class Resource : uint8_t { kCpu, kMemory, kGpuUtilization, kGpuMemory };
inline constexpr size_t kResourceCount = 4;
inline constexpr std::array<Resource, kResourceCount> kAllResources = {
    Resource::kCpu, Resource::kMemory, Resource::kGpuUtilization, Resource::kGpuMemory};

/// The `resource` label: "cpu", "memory", "gpu_utilization", "gpu_memory".
std::string_view ResourceName(Resource resource);
/// The `unit` label: "core", "byte", "ratio", "byte". All amounts are in this unit.
std::string_view UnitName(Resource resource);
/// The inverse of ResourceName.
std::optional<Resource> ParseResource(std::string_view name);

}  // namespace tidemark
