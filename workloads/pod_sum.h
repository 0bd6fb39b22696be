#pragma once
// Minutes of a pod's containers → minutes of the pod.
//
// The containers of a pod close their minutes one after the other. Whoever knows up to where all of
// them have come closes the sum's minutes up to there: each is given out once, in order, as the sum
// of what had come for it.
//
// A pure function of the order of the calls; no clock is asked. A value type, not thread-safe. As
// many minutes are open as the slowest container that is waited for lags behind.

#include <cstdint>
#include <optional>
#include <vector>

#include "model/byte_codec.h"
#include "workloads/usage.h"

namespace tidemark::workloads {

/// The usage of one resource by one pod.
class PodSum {
 public:
  /// One minute of the sum.
  struct Minute {
    UsageMinute usage;
    std::optional<double> request;  ///< of all containers in it; absent when one is not known
  };

  /// A minute of one container; `request`: in force then, where known. False, and nothing added,
  /// when the minute was given out already.
  bool Add(UsageMinute minute, std::optional<double> request);
  /// Appends the minutes that end at `until_ms` or before.
  void Close(int64_t until_ms, std::vector<Minute>& out);
  /// Appends all that is open.
  void Flush(std::vector<Minute>& out);
  bool HasOpen() const { return !open_.empty(); }

  /// Appends the whole state; times as distances to `base_ms`.
  void Save(ByteWriter& out, int64_t base_ms) const;
  /// What Save wrote; nullopt, and the reader failed, when the bytes are no such thing.
  static std::optional<PodSum> Restore(ByteReader& in, int64_t base_ms);

 private:
  struct Open {
    int64_t start_ms = 0;
    double usage = 0;
    double request = 0;
    bool all_requests = true;
  };

  std::vector<Open> open_;  // by time
  int64_t given_until_ms_ = kNever;
};

}  // namespace tidemark::workloads
