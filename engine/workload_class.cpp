#include "engine/workload_class.h"

namespace tidemark::engine {
namespace {

constexpr double kIdleCores = 0.01;  // of each container
constexpr double kIdleRatio = 0.05;  // of the request
constexpr double kComputeRatio = 0.5;
constexpr double kMemoryRatio = 0.125;  // cores per GiB
constexpr double kSlack = 1.2;
constexpr double kGiB = 1024.0 * 1024 * 1024;

}  // namespace

void PodNeeds::Add(const ContainerAdvice& container) {
  for (const ResourceAdvice& advice : container.resources) {
    if (!advice.model_request) continue;
    if (advice.resource == Resource::kCpu) {
      cores_ += *advice.model_request;
      requested_cores_ += advice.current_request.value_or(0);
      all_requests_ = all_requests_ && advice.current_request.value_or(0) > 0;
      ++with_cpu_;
    } else if (advice.resource == Resource::kMemory) {
      bytes_ += *advice.model_request;
      ++with_memory_;
    }
  }
}

WorkloadClass PodNeeds::Class(WorkloadClass before) const {
  if (with_cpu_ == 0 || with_memory_ == 0) return WorkloadClass::kUnknown;
  // Both sides of a bound hold on to what is within a fifth of it. Who was idle had no shape.
  const bool had_shape = before != WorkloadClass::kUnknown && before != WorkloadClass::kIdle;
  const double slack = had_shape ? kSlack : 1;
  const double compute_from =
      before == WorkloadClass::kCompute ? kComputeRatio / slack : kComputeRatio * slack;
  const double memory_until =
      before == WorkloadClass::kMemory ? kMemoryRatio * slack : kMemoryRatio / slack;
  // A histogram of VPA's layout tells the first 10 millicores apart no further: who comes to be
  // idle may have all of them.
  const double idle = before == WorkloadClass::kIdle ? kSlack : 1;
  const bool few_cores = cores_ <= kIdleCores * idle * static_cast<double>(with_cpu_);
  const bool little_of_it = !all_requests_ || cores_ <= kIdleRatio * idle * requested_cores_;
  if (few_cores && little_of_it) return WorkloadClass::kIdle;
  const double ratio = cores_ / (bytes_ / kGiB);  // infinite without any memory
  if (ratio > compute_from) return WorkloadClass::kCompute;
  if (ratio < memory_until) return WorkloadClass::kMemory;
  return WorkloadClass::kBalanced;
}

}  // namespace tidemark::engine
