#pragma once
// HorizontalPodAutoscalers of a namespace: which workload each scales, between which bounds, and at
// which utilisation of its pods' requests.
//
// What each says comes as several series (kube-state-metrics: _info with the target,
// _spec_min_replicas, _spec_max_replicas, _spec_target_metric), in any order. An autoscaler of
// which a bound was not told may have none, or its series may come with the next batch: only when
// the others have been told for a minute it is taken to have none.

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/label.h"
#include "model/resource.h"
#include "model/sample.h"
#include "workloads/fact.h"

namespace tidemark::workloads {

/// What a series says of an autoscaler. The numbers are part of what is saved.
enum class AutoscalerSlot : uint8_t {
  kInfo = 0,
  kMin = 1,
  kMax = 2,
  kCpuTarget = 3,     ///< utilisation of the requests of cpu that it keeps to, in percent
  kMemoryTarget = 4,  ///< likewise of memory
};
inline constexpr size_t kAutoscalerSlots = 5;

/// A fact and since when it holds without a break.
struct LastingFact {
  Fact fact;
  int64_t since_ms = kNever;

  /// What held then and still does. Told later than that: not known then.
  std::optional<double> At(int64_t time_ms) const {
    const auto told = since_ms > time_ms ? std::nullopt : fact.At(time_ms);
    return told && std::isfinite(*told) ? told : std::nullopt;
  }
};

struct Autoscaler {
  std::array<LastingFact, kAutoscalerSlots> told;  ///< by AutoscalerSlot
  std::string target;                              ///< TargetName, as the info that holds says
  uint32_t references = 0;                         ///< series that point here

  const LastingFact& Told(AutoscalerSlot slot) const { return told[static_cast<size_t>(slot)]; }
};

/// Between how many replicas a workload is kept; as told, whatever the numbers are.
struct ToldBounds {
  std::optional<double> min;  ///< absent: not told, though the rest was for a minute
  double max = 0;
  int64_t last_ms = kNever;  ///< newest sample of the maximum
};

/// At which utilisation of its pods' requests a workload is scaled.
struct ToldUtilization {
  std::string_view autoscaler;  ///< stands as long as the autoscaler does
  Resource resource = Resource::kCpu;
  double ratio = 0;  ///< above 0
};

/// "deployment/web": no type has a slash.
std::string TargetName(std::string_view workload_type, std::string_view workload);
/// Of an info series: scaletargetref_kind in lower case, scaletargetref_name.
std::string TargetFrom(LabelsView labels);
/// Of a target's series: utilisation (metric_target_type) of cpu or memory (metric_name); nullopt
/// of any other, of which nothing is kept.
std::optional<AutoscalerSlot> TargetSlotFrom(LabelsView labels);

/// Not thread-safe. Facts stand where they are until their last series is released.
class Autoscalers {
 public:
  /// A series tells of this autoscaler; the fact is for it to be ended by.
  Fact* Bind(std::string_view name, AutoscalerSlot slot);
  void Release(std::string_view name);
  /// What a series has said, at least 0. Of two series that say the same thing the newer sample
  /// holds. `target`: of an info.
  void Tell(std::string_view name, AutoscalerSlot slot, uint32_t series, Sample sample,
            std::string_view target);

  /// As known at that time: of the autoscalers of the workload the first by name that has a
  /// maximum; nullopt when none has, or when what is told of one before it, or of it, may not be
  /// all yet.
  std::optional<ToldBounds> BoundsOf(std::string_view workload_type, std::string_view workload,
                                     int64_t time_ms) const;
  /// Name of the first one that scales the workload; empty: none does.
  std::string_view FirstOf(std::string_view workload_type, std::string_view workload,
                           int64_t time_ms) const;

  /// The utilisation that the workload is scaled at as known at that time, at most one of each
  /// resource: of the autoscalers that scale it that of the first by name that has one.
  std::vector<ToldUtilization> UtilizationOf(std::string_view workload_type,
                                             std::string_view workload, int64_t time_ms) const;

  const std::map<std::string, Autoscaler, std::less<>>& all() const { return all_; }
  /// Puts one there as it was saved, without any series; false when it is there.
  Autoscaler* Add(std::string_view name);
  /// What the info that holds says: of a restored one.
  void SetTarget(std::string_view name, std::string_view target);

 private:
  const std::set<std::string, std::less<>>* NamesOf(std::string_view workload_type,
                                                    std::string_view workload) const;
  void Retarget(std::string_view name, Autoscaler& autoscaler, std::string_view target);

  std::map<std::string, Autoscaler, std::less<>> all_;  // by name
  /// Names by Autoscaler::target.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> by_target_;
};

}  // namespace tidemark::workloads
