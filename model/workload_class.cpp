#include "model/snapshot.h"

namespace tidemark {

std::string_view ToString(WorkloadClass workload_class) {
  switch (workload_class) {
    case WorkloadClass::kUnknown: return "unknown";
    case WorkloadClass::kCompute: return "compute";
    case WorkloadClass::kMemory: return "memory";
    case WorkloadClass::kBalanced: return "balanced";
    case WorkloadClass::kIdle: return "idle";
  }
  return "unknown";
}

}  // namespace tidemark
