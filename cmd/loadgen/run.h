#pragma once
// One run: a thread that encodes, a thread for each connection that sends.
//
// Bodies are encoded ahead, as many as fit into 512 MB, and the clock starts when these are ready,
// so that a generator on a core of its own costs the measured time little. A series always goes
// over the same connection, in the order of its samples. Flat out each connection sends its next
// body when the answer to the last has come (a closed loop); with a rate bodies are due by
// schedule, whatever the answers say, and start late only when their connection is busy (an open
// loop).

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "cmd/loadgen/options.h"
#include "model/clock.h"
#include "model/result.h"

namespace tidemark::loadgen {

struct LatencyReport {
  double p50_seconds = 0;
  double p99_seconds = 0;
  double max_seconds = 0;
};

struct LoadReport {
  uint64_t containers = 0;
  uint64_t pods = 0;
  uint64_t pods_replaced = 0;
  uint64_t series = 0;
  uint64_t rounds = 0;                    ///< begun
  uint64_t requests = 0;                  ///< bodies that got their last answer
  std::map<unsigned, uint64_t> statuses;  ///< answers by code; 0: no answer
  uint64_t retries = 0;
  uint64_t samples_sent = 0;          ///< of all bodies, each counted once
  uint64_t samples_acknowledged = 0;  ///< of those answered 2xx
  uint64_t bytes_sent = 0;            ///< of bodies, each counted once
  uint64_t late_starts = 0;  ///< with a rate: requests that began over 5 ms after their time
  double max_lateness_seconds = 0;
  double seconds = 0;  ///< from the first request to the last answer
  int64_t first_time_ms = 0;
  int64_t last_time_ms = 0;  ///< of the last round begun
  /// From when a request began (with a rate: was due) to its answer; of retries, from their own
  /// beginning.
  LatencyReport latency;
  double encode_cpu_seconds = 0;
  double send_cpu_seconds = 0;
  bool interrupted = false;
  bool caught_up = false;     ///< ended because sample times would have passed the wall clock
  std::string first_refusal;  ///< the first answer other than 2xx, or why there was none

  bool AllAcknowledged() const { return samples_sent > 0 && samples_acknowledged == samples_sent; }
};

/// Waits for a moment; true when the run is to be ended before its time.
using ShouldStop = std::function<bool()>;

/// Runs until the rounds or the time are over. An error is kUnavailable: there was no connection to
/// begin with.
Result<LoadReport> RunLoad(const LoadOptions& options, const Clock& clock,
                           const ShouldStop& should_stop);

/// Where sample times begin unless that is said: so that they end with the run, and never pass the
/// wall clock. Unknown for a flat-out run that is bounded by time alone: a day back.
int64_t StartOf(const LoadOptions& options, uint64_t series, int64_t now_ms);

std::string ReportText(const LoadOptions& options, const LoadReport& report);
/// One line, with the line end.
std::string ReportJson(const LoadOptions& options, const LoadReport& report);

}  // namespace tidemark::loadgen
