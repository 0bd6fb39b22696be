#pragma once
// Whether a pod is ready, as kube-state-metrics tells it, and which of its starts was counted.

#include <cstdint>

#include "workloads/usage.h"

namespace tidemark::workloads {

/// A value type of 24 bytes, for there is one in each pod. It knows what is said now and what was
/// said before that, so that a minute that is closed a little later still sees its own end.
struct PodReadiness {
  enum class State : uint8_t { kUnknown = 0, kUnready = 1, kReady = 2 };

  int64_t changed_ms = kNever;   ///< since when `now` holds
  uint32_t series = kNoSeries;   ///< who says `now`; kNoSeries: nobody, and it is kUnknown
  uint32_t told_ready_s = 0;     ///< kube_pod_status_ready_time, Unix seconds; 0: not told
  uint32_t counted_start_s = 0;  ///< start of the pod that is dealt with, Unix seconds; 0: none
  State now = State::kUnknown;
  State before = State::kUnknown;  ///< what held until changed_ms

  /// Series `by` says so. `last_ms`: when `now` was last said, kNever while it is kUnknown. A word
  /// that is older than what another series has said is nothing.
  void Say(uint32_t by, int64_t time_ms, bool is_ready, int64_t last_ms);
  /// The series has ended. Only the one that says `now` ends it.
  void End(uint32_t by, int64_t time_ms);
  /// What held then; `last_ms` as above. What was said holds for the look-back (kMaxGapMs).
  State At(int64_t time_ms, int64_t last_ms) const;

  friend bool operator==(const PodReadiness&, const PodReadiness&) = default;
};

}  // namespace tidemark::workloads
