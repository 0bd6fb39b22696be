#pragma once
// The resources that a container uses and requests, named as kube-state-metrics names them.
//
// Some are built in; the configuration may name a few more, which take the slots behind them. What
// those are called stands in a ResourceTable.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark {

/// A slot. The numbers of those built in are part of what is saved.
enum class Resource : uint8_t {
  kCpu = 0,
  kMemory = 1,
  kGpuUtilization = 2,
  kGpuMemory = 3,
  kEphemeralStorage = 4,
  kFirstCustom = 5,  ///< and kMaxCustomResources − 1 more behind it
};
inline constexpr size_t kBuiltInResourceCount = 5;
inline constexpr size_t kMaxCustomResources = 8;
inline constexpr size_t kResourceCount = kBuiltInResourceCount + kMaxCustomResources;

inline constexpr std::array<Resource, kBuiltInResourceCount> kBuiltInResources = {
    Resource::kCpu, Resource::kMemory, Resource::kGpuUtilization, Resource::kGpuMemory,
    Resource::kEphemeralStorage};
/// All slots, in use or not. Those in use: ResourceTable::all.
inline constexpr std::array<Resource, kResourceCount> kAllResources = [] {
  std::array<Resource, kResourceCount> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Resource>(i);
  return all;
}();

constexpr bool IsCustom(Resource resource) { return resource >= Resource::kFirstCustom; }

// Of resources that are built in; for others "unknown": ResourceTable knows them.

/// The `resource` label: "cpu", "memory", "gpu_utilization", "gpu_memory", "ephemeral_storage".
std::string_view ResourceName(Resource resource);
/// The `unit` label: "core", "byte", "ratio", "byte", "byte". All amounts are in this unit.
std::string_view UnitName(Resource resource);
/// The inverse of ResourceName.
std::optional<Resource> ParseResource(std::string_view name);

}  // namespace tidemark
