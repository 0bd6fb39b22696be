#include "rightsizing/qos_class.h"

#include <algorithm>

namespace tidemark::rightsizing {
namespace {

bool IsSet(const std::optional<double>& amount) { return amount && *amount > 0; }

bool HasAny(const ContainerResources::Pair& pair) {
  return IsSet(pair.request) || IsSet(pair.limit);
}
bool IsGuaranteed(const ContainerResources::Pair& pair) {
  return IsSet(pair.limit) && pair.request == pair.limit;
}

}  // namespace

QosClass QosClassOf(std::span<const ContainerResources> containers) {
  const bool any = std::ranges::any_of(
      containers, [](const auto& of) { return HasAny(of.cpu) || HasAny(of.memory); });
  if (!any) return QosClass::kBestEffort;
  const bool all = std::ranges::all_of(
      containers, [](const auto& of) { return IsGuaranteed(of.cpu) && IsGuaranteed(of.memory); });
  return all ? QosClass::kGuaranteed : QosClass::kBurstable;
}

}  // namespace tidemark::rightsizing
