#pragma once
// How long the pods of a workload take to serve: from the start of a pod until it is ready.
//
// The start is kube_pod_start_time, when the kubelet took the pod: time spent waiting for a node is
// not in it. Of the latest starts the second highest of eight counts (the 80th percentile by
// nearest rank: the highest of up to four), so that a node that had to pull the image first does
// not decide alone, while a workload of which few starts were seen is not taken for quicker than it
// was.
//
// A pod that was ready long before anybody looked has a time since which it is ready too, but that
// may be the end of a later fit of unreadiness. Fits only make it longer: the shortest of such
// times counts, and only until a start was seen.

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "model/byte_codec.h"

namespace tidemark::workloads {

/// A value type, not thread-safe. What it holds does not depend on the order of the calls.
class StartupTimes {
 public:
  static constexpr size_t kMostStarts = 8;

  /// A pod that started then was ready `duration_ms` later; one of more than kMaxStartupMs counts
  /// as that.
  void Add(int64_t start_ms, int64_t duration_ms);
  /// The same of a pod of which nobody saw the start. More than kMaxStartupMs is nothing.
  void Hear(int64_t duration_ms);
  /// From 0 to kMaxStartupMs; nullopt while nothing is known.
  std::optional<int64_t> Usual() const;
  /// As if what was told to `other` had been told here.
  void TakeOver(const StartupTimes& other);

  /// Appends the whole state; times as distances to `base_ms`.
  void Save(ByteWriter& out, int64_t base_ms) const;
  /// What Save wrote; nullopt, and the reader failed, when the bytes are no such thing.
  static std::optional<StartupTimes> Restore(ByteReader& in, int64_t base_ms);

  friend bool operator==(const StartupTimes&, const StartupTimes&) = default;

 private:
  struct Start {
    int64_t start_ms = 0;
    int64_t duration_ms = 0;

    friend bool operator==(const Start&, const Start&) = default;
    friend bool operator<(const Start& a, const Start& b) {
      return std::tie(a.start_ms, a.duration_ms) < std::tie(b.start_ms, b.duration_ms);
    }
  };

  std::vector<Start> starts_;  // sorted; the latest of all that were told
  int64_t heard_ms_ = -1;      // below 0: nothing was heard
};

}  // namespace tidemark::workloads
