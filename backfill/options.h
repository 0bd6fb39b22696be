#pragma once
// What a back-fill may be told: plain structs.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/options.h"
#include "model/selector.h"

namespace tidemark::backfill {

/// Counters are not bridged over longer gaps than five minutes: a longer step would lose usage.
inline constexpr int64_t kMaxStepMs = 5 * 60 * 1000;
/// Usage is kept by the minute; finer steps serve the peaks of memory alone.
inline constexpr int64_t kMinStepMs = 15 * 1000;
/// The finest step that is chosen without being asked for.
inline constexpr int64_t kMinuteMs = 60 * 1000;
inline constexpr int64_t kMaxRangeMs = 400LL * 24 * 60 * kMinuteMs;

/// What the labels of a series may be; others are left out and said. As for remote write.
struct LabelLimits {
  size_t max_labels = 128;
  size_t max_name_bytes = 1024;
  size_t max_value_bytes = 4096;
};

/// How the work is cut and how patient it is. Not in the configuration: these bound memory and the
/// server's load, whatever the cluster's size.
struct Tuning {
  uint64_t window_samples = 500'000;  ///< that one query should answer with
  uint64_t max_answer_samples = 5'000'000;
  std::chrono::milliseconds max_window = std::chrono::hours(6);
  uint64_t unit_series = 4000;  ///< of one metric in one unit
  size_t unit_namespaces = 50;
  size_t unit_matcher_bytes = 4096;  ///< of the names in one query
  std::chrono::milliseconds probe_every = std::chrono::hours(6);
  unsigned attempts = 5;  ///< of one query, where it may get better
  std::chrono::milliseconds retry_first{1000};
  std::chrono::milliseconds retry_longest{30'000};
  std::chrono::milliseconds unreachable_for = std::chrono::minutes(10);
  double pause_ratio = 1;  ///< pause after a query by how long it took
  std::chrono::milliseconds longest_pause{30'000};
  unsigned failures_in_a_row = 5;  ///< windows given up before the server is doubted
  unsigned rebuilds = 3;           ///< of a unit that live samples have overtaken
  std::chrono::milliseconds log_every{30'000};
};

using LabelPairs = std::vector<std::pair<std::string, std::string>>;

struct Options {
  client::HttpClientOptions http;  ///< `url` empty: nothing is back-filled at the first start
  int64_t range_ms = 8LL * 24 * 60 * kMinuteMs;
  int64_t step_ms = 0;       ///< 0: chosen to fit the range
  uint64_t concurrency = 1;  ///< queries at a time, 1 to kMaxConcurrency
  /// Prometheus puts its external labels on what it sends, not on what its API answers: without
  /// them here the past would be of other workloads than the live stream.
  LabelPairs external_labels;
  /// Labels that the live stream loses on its way in (those of HA replicas).
  std::vector<std::string> drop_labels;
  LabelLimits label_limits;
  /// Over the labels cluster and namespace: only these namespaces. Not in the configuration.
  Selector namespaces;
  Tuning tuning;
};
inline constexpr uint64_t kMaxConcurrency = 4;

}  // namespace tidemark::backfill
