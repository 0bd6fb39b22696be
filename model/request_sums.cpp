#include "model/request_sums.h"

#include <numeric>

namespace tidemark {
namespace {

constexpr double kTolerance = 0.1;
constexpr double kFar = 4;
constexpr double kWorthCores = 0.05;
constexpr double kWorthBytes = 64.0 * 1024 * 1024;

bool IsWorthAChange(Resource resource, double difference) {
  switch (resource) {
    case Resource::kCpu: return difference >= kWorthCores;
    case Resource::kMemory:
    case Resource::kGpuMemory:
    case Resource::kEphemeralStorage: return difference >= kWorthBytes;
    case Resource::kGpuUtilization:
    case Resource::kFirstCustom: break;
  }
  return true;
}

}  // namespace

std::string_view ToString(RequestFit fit) {
  switch (fit) {
    case RequestFit::kUnknown: return "unknown";
    case RequestFit::kAbsent: return "absent";
    case RequestFit::kUnder: return "under";
    case RequestFit::kFitting: return "fitting";
    case RequestFit::kOver: return "over";
    case RequestFit::kFarOver: return "far_over";
  }
  return "unknown";
}

RequestFit FitOf(const ResourceAdvice& advice) {
  if (!advice.recommended_request) return RequestFit::kUnknown;
  if (!advice.current_request) return RequestFit::kAbsent;
  const double current = *advice.current_request;
  const double wanted = *advice.recommended_request;
  if (current < wanted * (1 - kTolerance)) return RequestFit::kUnder;
  if (current <= wanted * (1 + kTolerance)) return RequestFit::kFitting;
  const bool far = current >= wanted * kFar && IsWorthAChange(advice.resource, current - wanted);
  return far ? RequestFit::kFarOver : RequestFit::kOver;
}

void RequestSums::Add(const WorkloadAdvice& workload, const ResourceAdvice& advice) {
  ++fits[static_cast<size_t>(FitOf(advice))];
  if (!advice.current_request || !advice.recommended_request) return;
  ++known;
  current += *advice.current_request * workload.replicas;
  recommended += *advice.recommended_request * workload.replicas;
  // As the container's own figure says, so that the sum is the sum of what is shown.
  reclaimable += advice.reclaimable.value_or(
      (*advice.current_request - *advice.recommended_request) * workload.replicas);
}

uint64_t RequestSums::Containers() const {
  return std::accumulate(fits.begin(), fits.end(), uint64_t{0});
}

void AllRequestSums::Add(const WorkloadAdvice& workload) {
  for (const ContainerAdvice& container : workload.containers) {
    for (const ResourceAdvice& advice : container.resources) Add(workload, advice);
  }
}

}  // namespace tidemark
