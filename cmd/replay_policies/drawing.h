#pragma once
// What is drawn of one replayed trace: as many places as a chart has, however long the trace.

#include <cstdint>
#include <vector>

#include "cmd/replay_policies/shared_forecasts.h"
#include "scaling/replay.h"

namespace tidemark::replay_policies {

/// Least and most of the minutes at one place; NaN: nothing is known of them.
struct Span {
  float low;
  float high;
};
using Spans = std::vector<Span>;

/// A stretch of minutes.
struct Stretch {
  int64_t first_minute = 0;
  int64_t minutes = 0;
  Spans demand;
  std::vector<Spans> capacity;  ///< by drawn policy: what ready pods request, in the demand's unit
  std::vector<Spans> replicas;  ///< by drawn policy, of the spec
  Spans band;                   ///< what was forecast of these minutes at the lead; may be empty
};

struct Drawing {
  std::vector<size_t> policies;  ///< those that are drawn, by their place in the plan
  Stretch whole;                 ///< all that was measured
  Stretch peak;                  ///< some hours around the most demand, minute by minute
};

inline constexpr size_t kMaxPlaces = 720;
inline constexpr int64_t kPeakMinutes = 6 * 60;
/// So many lines can be told apart.
inline constexpr size_t kMaxDrawn = 6;

/// `minutes` of each policy: all of the same minutes, without gaps. Those before `from_minute` are
/// left out. `base`: what one pod counts for.
Drawing Draw(const std::vector<scaling::ReplayedPolicy>& policies, std::vector<size_t> drawn,
             const std::vector<ExpectedBand>& bands, int64_t from_minute, int32_t lead_minutes,
             double base);

}  // namespace tidemark::replay_policies
