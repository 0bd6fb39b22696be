#pragma once
// What is told of a pod's container beside its usage that makes a minute of usage mean something
// else: how often its CPU limit held it back, and how much of its memory is page cache.

#include <array>
#include <cstdint>

#include "model/byte_codec.h"
#include "workloads/usage.h"

namespace tidemark::workloads {

/// CFS periods of a container by minute: how many there were, and in how many it was throttled. An
/// increase counts for the minute in which it was told, so that the share is that of a minute which
/// is off by at most one scrape interval. A value type, not thread-safe.
class ThrottledMinutes {
 public:
  /// Increases of the two counters, told at `time_ms`. One of a minute before those that are kept
  /// is nothing.
  void AddPeriods(int64_t time_ms, double increase) { At(time_ms).periods += increase; }
  /// Where nothing was told before, as of a container that is throttled for the first time, the
  /// minute has had as many periods until then as fit in: nobody counted them. So its share is
  /// too small rather than that of its last seconds alone.
  void AddThrottled(int64_t time_ms, double increase);

  /// Of the periods of the minute that starts here, those that were throttled; 0 where nothing is
  /// known, 1 at most.
  double Ratio(int64_t start_ms) const;

  void Save(ByteWriter& out, int64_t base_ms) const;
  /// False: the bytes are nothing that Save can have written.
  bool Restore(ByteReader& in, int64_t base_ms);

  friend bool operator==(const ThrottledMinutes& a, const ThrottledMinutes& b) {
    return a.minutes_ == b.minutes_;
  }

 private:
  struct Minute {
    int64_t start_ms = kNever;
    double periods = 0;
    double throttled = 0;

    friend bool operator==(const Minute&, const Minute&) = default;
  };
  Minute& At(int64_t time_ms);

  // A minute is over, and asked about, when samples of the next one or two have come.
  std::array<Minute, 3> minutes_;  // newest first
  Minute none_;                    // takes what is too old
};

}  // namespace tidemark::workloads
