#pragma once
// What can be set on the Kubernetes port beside its addresses and certificates. Plain values.

#include <cstdint>
#include <string>

namespace tidemark::kubernetes {

/// Until when what follows load (target replicas, forecasts, high-water loads) is given back. Age
/// is the wall clock less the end of the minute that was decided on.
struct Freshness {
  /// Served up to this age. Two minutes and a half: a minute is closed when the next sample is
  /// there, at most a scrape interval later, and twice the minute may pass before anything is odd.
  int64_t serve_ms = 150'000;
  /// Then held up to this: the last value, marked with the label stale="true". Then an error. At
  /// least serve_ms, at most five minutes (kMostHeldMs): that is when the engine withdraws it.
  int64_t hold_ms = 300'000;

  friend bool operator==(const Freshness&, const Freshness&) = default;
};
inline constexpr int64_t kMostHeldMs = 300'000;

struct Settings {
  /// Whose workloads the port serves: the label `cluster` of the streams. Empty: those that carry
  /// none, or of the only cluster that there is.
  std::string cluster;
  Freshness freshness;
};

}  // namespace tidemark::kubernetes
