#pragma once
// HorizontalPodAutoscalers of a namespace: which workload each scales, and between which bounds.
//
// What each says comes as up to three series (kube-state-metrics: _info with the target,
// _spec_min_replicas, _spec_max_replicas), in any order. An autoscaler of which a bound was not
// told may have none, or its series may come with the next batch: only when the others have been
// told for a minute it is taken to have none.

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/label.h"
#include "model/sample.h"
#include "workloads/fact.h"

namespace tidemark::workloads {

/// What a series says of an autoscaler.
enum class AutoscalerSlot : uint8_t { kInfo = 0, kMin = 1, kMax = 2 };
inline constexpr size_t kAutoscalerSlots = 3;

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

/// "deployment/web": no type has a slash.
std::string TargetName(std::string_view workload_type, std::string_view workload);
/// Of an info series: scaletargetref_kind in lower case, scaletargetref_name.
std::string TargetFrom(LabelsView labels);

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
