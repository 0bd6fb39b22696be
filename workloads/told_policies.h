#pragma once
// What the policies of a namespace ask, where it does not touch how anything is estimated: the
// utilisation that HorizontalPodAutoscalers aim at, and the bounds of LimitRanges. Shown and used
// by right-sizing; not saved: their series tell it again within a scrape of a start.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/label.h"
#include "model/resource.h"
#include "model/resource_slots.h"
#include "model/snapshot.h"
#include "workloads/fact.h"

namespace tidemark::workloads {

/// kube_horizontalpodautoscaler_spec_target_metric of utilisation, by autoscaler and resource. Not
/// thread-safe.
class UtilizationTargets {
 public:
  /// Which of them a series with these labels tells; nullopt: none (another kind of target or
  /// metric). `metric_name` is a resource, `metric_target_type` utilization.
  static std::optional<Resource> ResourceOf(LabelsView labels);

  /// A series tells of it; the fact is valid until Release as often as Bind.
  Fact* Bind(std::string_view autoscaler, Resource resource);
  void Release(std::string_view autoscaler, Resource resource);
  /// The ratio, above 0; kube-state-metrics tells percent.
  std::optional<double> At(std::string_view autoscaler, Resource resource, int64_t time_ms) const;

 private:
  struct Told {
    Fact fact;
    uint32_t references = 0;
  };
  std::map<std::pair<std::string, Resource>, Told> told_;
};

/// kube_limitrange of type Container: min, max and maxLimitRequestRatio. Not thread-safe.
class LimitRanges {
 public:
  enum class Constraint : uint8_t { kMin, kMax, kMaxRatio };
  /// Name of the LimitRange, and what is told.
  using Key = std::tuple<std::string, Resource, Constraint>;

  /// nullopt: it tells nothing of that (of pods, of defaults, of other resources).
  static std::optional<Key> KeyOf(std::string_view limit_range, LabelsView labels);
  /// As one text, for a series to remember; KeyFrom is the inverse.
  static std::string TextOf(const Key& key);
  static std::optional<Key> KeyFrom(std::string_view limit_range, std::string_view text);

  Fact* Bind(const Key& key);
  void Release(const Key& key);
  /// Of several the strictest.
  ResourceSlots<ContainerLimits> At(int64_t time_ms) const;

 private:
  struct Told {
    Fact fact;
    uint32_t references = 0;
  };
  std::map<Key, Told> told_;
};

}  // namespace tidemark::workloads
