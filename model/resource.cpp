#include "model/resource.h"

namespace tidemark {

std::string_view ResourceName(Resource resource) {
  switch (resource) {
    case Resource::kCpu: return "cpu";
    case Resource::kMemory: return "memory";
    case Resource::kGpuUtilization: return "gpu_utilization";
    case Resource::kGpuMemory: return "gpu_memory";
    case Resource::kEphemeralStorage: return "ephemeral_storage";
    case Resource::kFirstCustom: break;
  }
  return "unknown";
}

std::string_view UnitName(Resource resource) {
  switch (resource) {
    case Resource::kCpu: return "core";
    case Resource::kMemory: return "byte";
    case Resource::kGpuUtilization: return "ratio";
    case Resource::kGpuMemory: return "byte";
    case Resource::kEphemeralStorage: return "byte";
    case Resource::kFirstCustom: break;
  }
  return "unknown";
}

std::optional<Resource> ParseResource(std::string_view name) {
  for (const Resource resource : kBuiltInResources) {
    if (ResourceName(resource) == name) return resource;
  }
  return std::nullopt;
}

}  // namespace tidemark
