#pragma once
// Back-fill as other rooms see it: how to ask for one, how far it is, what it has counted.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/counters.h"
#include "model/result.h"

namespace tidemark {

/// Whose history, and how to get at it. What is left empty or 0 is the configuration's.
struct BackfillRequest {
  std::string url{};     ///< of a Prometheus-compatible API; without credentials
  int64_t start_ms = 0;  ///< Unix time; 0: as far back as the configured range
  int64_t end_ms = 0;    ///< Unix time; 0: now
  int64_t step_ms = 0;   ///< 0: chosen to fit the range
  /// Credentials and TLS are for this request alone and are never kept. Without any of them, and
  /// with the configured URL, the configured ones are used.
  std::string username{};
  std::string password{};
  std::string bearer_token{};
  std::string ca_pem{};
  std::string certificate_pem{};
  std::string key_pem{};
  std::string server_name{};
  bool insecure_skip_verify = false;
  std::vector<std::pair<std::string, std::string>> headers{};
  /// Labels that the live stream carries and the API does not tell (external_labels).
  std::vector<std::pair<std::string, std::string>> external_labels{};
  /// Begins anew where an unfinished job of the same URL would be continued.
  bool restart = false;
};

enum class BackfillState : uint8_t {
  kIdle,  ///< none was ever asked for
  kRunning,
  kFailed,     ///< ended early; goes on behind what was merged when asked again
  kCancelled,  ///< as kFailed, by request
  kFinished,   ///< for good; `not_covered` says what is missing
};
inline constexpr size_t kBackfillStateCount = 5;
/// Lower case, as in the JSON API.
std::string_view ToString(BackfillState state);

struct BackfillStatus {
  BackfillState state = BackfillState::kIdle;
  std::string url;  ///< without credentials
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;
  double progress_ratio = 0;  ///< 0 to 1
  int64_t eta_ms = -1;        ///< what is left, about; -1: not known yet
  int64_t started_ms = 0;     ///< when this process began or took it up; Unix time, 0: it did not
  int64_t ended_ms = 0;
  uint64_t namespaces_done = 0;
  uint64_t namespaces_total = 0;
  uint64_t queries = 0;
  uint64_t samples = 0;     ///< received
  uint64_t bytes = 0;       ///< received, unpacked
  uint64_t containers = 0;  ///< that got history
  uint64_t minutes = 0;     ///< of usage that were merged
  /// Under way now; empty and 0 between windows.
  std::string current_namespaces;
  int64_t window_start_ms = 0;
  int64_t window_end_ms = 0;
  std::string error;  ///< why it failed; empty else
  /// Bounded lists of lines for people; the numbers say how many there would be.
  std::vector<std::string> not_covered;
  uint64_t not_covered_total = 0;
  std::vector<std::string> notes;  ///< worth knowing, nothing is missing for it
};

/// Thread-safe; no call waits for the network.
class BackfillControl {
 public:
  virtual ~BackfillControl() = default;
  /// Begins a job, or continues an unfinished one of the same URL with its own range; true: it is
  /// continued. kInvalidArgument: the request is wrong; kUnavailable: one is running.
  virtual Result<bool> Start(const BackfillRequest& request) = 0;
  /// Ends the running job within a second; what was merged stays. kNotFound: none is running.
  virtual Result<void> Cancel() = 0;
  virtual BackfillStatus Status() const = 0;
};

struct BackfillCounters {
  Counter queries_ok{};
  Counter queries_too_large{};  ///< refused for their size, asked again in parts
  Counter queries_retried{};    ///< failed in passing, asked again
  Counter queries_failed{};     ///< given up
  Counter samples{};
  Counter received_bytes{};
  Counter merged_minutes{};
  Counter merged_containers{};
  Counter windows_not_covered{};
  TimestampGauge last_error_ms{};
  TimestampGauge last_finished_ms{};
};

}  // namespace tidemark
