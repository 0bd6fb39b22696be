#pragma once
// How requests fit, and what those of many containers come to.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/resource.h"
#include "model/snapshot.h"

namespace tidemark {

/// What a present request is beside the recommended one.
enum class RequestFit : uint8_t {
  kUnknown,  ///< nothing is recommended
  kAbsent,   ///< there is a recommendation, but the container requests nothing (or it is not told)
  kUnder,    ///< requests less than 9/10 of what it should
  kFitting,
  kOver,     ///< requests more than 11/10 of what it should
  kFarOver,  ///< four times as much and more, by an amount that is worth a change
};
inline constexpr size_t kRequestFitCount = 6;
/// "unknown", "absent", "under", "fitting", "over", "far_over".
std::string_view ToString(RequestFit fit);

/// Thread-safe, as all here. A tenth either way is noise: recommendations move by so much from day
/// to day. Far over counts from 50 millicores or 64 MiB: a sidecar that requests 10m and needs 1m
/// is nobody's worry.
RequestFit FitOf(const ResourceAdvice& advice);

/// The resources that every container should request: those of a report.
inline constexpr std::array<Resource, 2> kRequestedResources = {Resource::kCpu, Resource::kMemory};

/// Of one resource of some containers. Amounts are per pod × replicas, in the resource's unit, and
/// only of containers of which current and recommended request are both known: so the sums can be
/// held against each other, and `known` of `Containers()` says what they are sums of.
struct RequestSums {
  double current = 0;
  double recommended = 0;
  double reclaimable = 0;  ///< current − recommended
  uint64_t known = 0;
  std::array<uint64_t, kRequestFitCount> fits{};  ///< containers by RequestFit

  void Add(const WorkloadAdvice& workload, const ResourceAdvice& advice);
  uint64_t Of(RequestFit fit) const { return fits[static_cast<size_t>(fit)]; }
  uint64_t Containers() const;
};

/// By resource.
struct AllRequestSums {
  std::array<RequestSums, kResourceCount> of{};

  void Add(const WorkloadAdvice& workload, const ResourceAdvice& advice) {
    of[static_cast<size_t>(advice.resource)].Add(workload, advice);
  }
  void Add(const WorkloadAdvice& workload);
  const RequestSums& Of(Resource resource) const { return of[static_cast<size_t>(resource)]; }
};

}  // namespace tidemark
