#pragma once
// Plain counters of the Kubernetes port; exporter/ turns them into metrics. Thread-safe; they only
// ever grow, unless they say "now".

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/counters.h"

namespace tidemark {

/// How a request for a metric was answered.
enum class MetricAnswer : uint8_t {
  kServed,      ///< fresh
  kHeld,        ///< the last value, while nothing newer comes
  kTooOld,      ///< 503: older than may be held, or nothing is known yet
  kNotFound,    ///< 404
  kAmbiguous,   ///< 400: more than one workload
  kBadRequest,  ///< 400: a selector or parameter that cannot be read
};
inline constexpr size_t kMetricAnswerCount = 6;

/// How an admission request was answered; the pod is let in each time.
enum class AdmissionOutcome : uint8_t {
  kPatched,
  kUnchanged,  ///< nothing to change
  kDryRun,     ///< something would have been changed
  kOff,        ///< right-sizing is off for the pod
  kUnknown,    ///< no workload, or nothing known of it
  kBad,        ///< no AdmissionReview, or no pod in it
  kFailed,     ///< an error of ours; see the log
};
inline constexpr size_t kAdmissionOutcomeCount = 7;

/// Why a request was not let in.
enum class AccessDenial : uint8_t {
  kNoCertificate,
  kUnknownAuthority,  ///< no certificate of a known CA, not valid now, or not for clients
  kNameNotAllowed,    ///< CN not among requestheader-allowed-names
  kNoUser,            ///< a front proxy that names no user
};
inline constexpr size_t kAccessDenialCount = 4;

/// What is of any server (connections, errors of the protocol, the end of its certificate's
/// validity) is in HttpCounters of the port's own.
struct KubernetesCounters {
  std::array<Counter, kMetricAnswerCount> metric_answers{};
  std::array<Counter, kAdmissionOutcomeCount> admissions{};
  std::array<Counter, kAccessDenialCount> denials{};
  /// 1 when the CAs and names that front proxies are judged by could be read last time, 0 when not.
  std::atomic<int64_t> authentication_good_now{1};
};

}  // namespace tidemark
