#pragma once
// A pod's quality-of-service class, as Kubernetes works it out.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace tidemark::rightsizing {

enum class QosClass : uint8_t { kBestEffort, kBurstable, kGuaranteed };

/// What counts of a container (of init containers, too): cores and bytes. A request that is not
/// written stands here as the limit, where there is one.
struct ContainerResources {
  struct Pair {
    std::optional<double> request;
    std::optional<double> limit;
  };
  Pair cpu;
  Pair memory;
};

/// Guaranteed: every container has limits for both, and its requests are those. BestEffort: none
/// has any. Zero counts as none. Pure; thread-safe.
///
/// Source: Kubernetes 1.34, pkg/apis/core/v1/helper/qos (ComputePodQOS); it compares sums, which of
/// a pod that it lets in (no request above its limit) comes to the same.
QosClass QosClassOf(std::span<const ContainerResources> containers);

}  // namespace tidemark::rightsizing
