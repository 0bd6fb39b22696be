#pragma once
// A sample as remote write carries it.

#include <bit>
#include <cmath>
#include <cstdint>

namespace tidemark {

struct Sample {
  int64_t timestamp_ms = 0;  ///< Unix time
  double value = 0;          ///< may be a stale marker, another NaN or infinite
  /// When the counter started from 0, Unix time; 0 = not said. Remote write 2.0 only.
  int64_t start_timestamp_ms = 0;
};

/// The NaN with which Prometheus says that a series has ended (prometheus/model/value/value.go,
/// StaleNaN).
inline constexpr uint64_t kStaleMarkerBits = 0x7ff0000000000002ULL;

/// Compares bits: it is a signalling NaN, which arithmetic would quiet into an ordinary one.
inline bool IsStaleMarker(double value) {
  return std::bit_cast<uint64_t>(value) == kStaleMarkerBits;
}

inline double StaleMarker() { return std::bit_cast<double>(kStaleMarkerBits); }

}  // namespace tidemark
