#pragma once
// Plain counters of each room. A room adds to its own struct and nothing else; exporter/ turns them
// into metrics. All members are thread-safe and only ever grow, unless they say "now".

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "model/sink.h"

namespace tidemark {

using Counter = std::atomic<uint64_t>;
/// Unix time in milliseconds; 0 = never.
using TimestampGauge = std::atomic<int64_t>;

/// Why a write that could be taken in later was answered 503.
enum class RefusalCause : uint8_t {
  kBytes,     ///< the memory for bodies and what they unpack to was used up
  kQueue,     ///< too long a queue, of requests for a worker or of batches for a shard
  kStopping,  ///< the daemon is stopping, or not ready yet
};
inline constexpr size_t kRefusalCauseCount = 3;
std::string_view ToString(RefusalCause cause);

struct RemoteWriteCounters {
  /// Requests by protocol version (index 0: 1.0, 1: 2.0) and status code, for the codes that are
  /// ever given.
  static constexpr std::array<unsigned, 7> kCodes = {204, 400, 405, 415, 429, 500, 503};
  std::array<std::array<Counter, kCodes.size()>, 2> requests{};

  Counter series_entries{};  ///< TimeSeries entries of requests that could be decoded
  Counter samples_accepted{};
  std::array<Counter, kIgnoreReasonCount> samples_ignored{};
  std::array<Counter, kRejectReasonCount> samples_rejected{};
  std::array<Counter, kRejectReasonCount>
      series_rejected{};  ///< refused entries, also those without samples
  /// Good entries without a replica label, while copies of HA pairs are told apart by it.
  Counter series_without_replica{};
  Counter stale_markers{};
  Counter exemplars{};
  Counter histograms{};
  Counter metadata{};
  std::array<Counter, kRefusalCauseCount> overload_refusals{};  ///< requests answered 503
  Counter received_bytes{};                                     ///< compressed
  Counter unpacked_bytes{};
  TimestampGauge highest_timestamp_ms{};
  TimestampGauge last_received_ms{};
};

struct HttpCounters {
  /// Requests by class of status (index 1: 1xx … 5: 5xx).
  std::array<Counter, 6> requests_by_class{};
  Counter connections_total{};
  Counter connections_refused{};  ///< over the connection limit
  Counter protocol_errors{};      ///< requests that were no HTTP, too large or cut
  Counter timeouts{};             ///< clients that were too slow
  Counter connections_evicted{};  ///< idle ones closed in favour of new ones
  Counter tls_handshakes_failed{};
  Counter requests_unauthorized{};  ///< answered 401
  Counter requests_rate_limited{};  ///< answered 429 by the web configuration's rate limit
  Counter password_checks{};        ///< hashes computed; what a cache knew is not counted
  std::atomic<int64_t> queued_requests_now{};  ///< those that wait for a worker
  /// Memory of bodies under way and of what they unpack to, and its bound.
  std::atomic<int64_t> inflight_bytes_now{};
  std::atomic<int64_t> inflight_limit_bytes{};
  std::atomic<int64_t> connections_now{};
  std::atomic<int64_t> requests_now{};
  /// Whether the web configuration and its files were good when last read: 1, 0, or -1 when there
  /// are none.
  std::atomic<int64_t> web_config_good_now{-1};
  TimestampGauge web_config_loaded_ms{};       ///< when last read well
  TimestampGauge certificate_expiry_now_ms{};  ///< the served certificate's NotAfter
};

struct EngineCounters {
  std::atomic<int64_t> series_now{};
  std::atomic<int64_t> pods_now{};
  std::atomic<int64_t> workloads_now{};
  std::atomic<int64_t> containers_now{};
  std::atomic<int64_t> namespaces_now{};
  std::atomic<int64_t> queued_batches_now{};
  Counter series_created{};
  Counter series_collected{};
  Counter exported_label_series{};  ///< series whose identity stood in exported_* labels
  Counter nonfinite_samples{};      ///< NaN or infinite: taken in, kept out of every estimate
  Counter counter_resets{};
  Counter usage_minutes{};          ///< minutes of usage fed to the estimators
  Counter usage_minutes_dropped{};  ///< less than half covered
  /// Minutes that a merged past reaches over: the live ones do not count.
  Counter usage_minutes_before_past{};
  Counter estimates{};              ///< requests of one resource of one container worked out anew
  Counter oom_kills{};              ///< of containers, for memory, fed to the estimators
  Counter oom_kills_repeated{};     ///< set aside: another series had told them
  Counter restarts_without_kill{};  ///< of containers, for another reason or for none that came
  Counter pod_labels_too_long{};    ///< label sets of pods that no profile can select by
  Counter original_requests_bad{};  ///< annotations that are no original requests: ignored
  Counter overload_refusals{};      ///< batches refused because a queue was full
  Counter ticks{};
  Counter internal_errors{};
  TimestampGauge last_tick_ms{};
  std::atomic<int64_t> last_tick_duration_us_now{};
};

struct StorageCounters {
  Counter journal_records{};          ///< appended
  Counter journal_payload_bytes{};    ///< of these, as the caller gave them
  Counter journal_appends{};          ///< groups of records written together
  Counter journal_syncs{};            ///< waits for the disk
  Counter journal_sync_failures{};    ///< by the timer; tried again, from memory
  Counter journal_append_failures{};  ///< groups refused by the disk or for want of room
  Counter journal_records_dropped{};  ///< damaged at the start, and those behind them
  Counter journal_bytes_dropped{};    ///< torn or damaged, as far as they could be counted
  Counter checkpoints_written{};
  Counter checkpoints_failed{};
  Counter checkpoints_damaged{};  ///< set aside at the start
  Counter recovered_records{};    ///< replayed at the start
  Counter missed_series{};  ///< entries of replayed records whose series was not there any more
  std::atomic<int64_t> journal_first_number_now{};
  std::atomic<int64_t> journal_last_number_now{};
  std::atomic<int64_t> journal_bytes_now{};
  std::atomic<int64_t> disk_free_bytes_now{-1};  ///< -1: not known
  std::atomic<int64_t> last_checkpoint_bytes_now{};
  std::atomic<int64_t> last_checkpoint_duration_ms_now{};
  std::atomic<int64_t> recovery_duration_ms_now{};
  TimestampGauge last_checkpoint_ms{};
};

/// Fits of forecast models.
struct TrainingCounters {
  Counter fits{};                     ///< that came back with a model
  Counter fits_refused{};             ///< too little was known, or it does not move
  Counter fits_stopped{};             ///< ended before they were done
  Counter spent_milliseconds{};       ///< of one core, in fits of any outcome
  Counter activated{};                ///< models taken into use
  Counter activations_lost{};         ///< of workloads that were gone, or refused by the journal
  std::atomic<int64_t> queued_now{};  ///< fits that wait
  /// What the queue would take at the present budget; -1: for ever, the budget is 0.
  std::atomic<int64_t> overdue_ms_now{};
  std::atomic<double> budget_ratio_now{};  ///< of one core
};

}  // namespace tidemark
