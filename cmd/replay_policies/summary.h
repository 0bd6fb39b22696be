#pragma once
// What a run comes to: of one trace, of a class of them, of all.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/replay_policies/run.h"

namespace tidemark::replay_policies {

/// Of one policy; means over traces, each counting once.
struct PolicyFigures {
  double utilization_ratio = 0;  ///< demand by what was requested for it
  double cost = 0;               ///< S = R·ΣN
  double cost_per_minute = 0;
  double cost_ratio = 0;  ///< to kBaseline, trace by trace
  double over_100_per_day = 0;
  double over_90_per_day = 0;
  double over_slo_ratio = 0;  ///< share of minutes above the objective's utilisation
  double unserved_ratio = 0;
  double scale_events_per_day = 0;
  double mean_replicas = 0;
  uint64_t over_100 = 0;  ///< minutes, of all traces together
  uint64_t over_90 = 0;
};

/// The cheapest setting of a knob with no more minutes above 100 % than kBaseline has.
struct EqualMinutes {
  double knob = 0;
  double cost_ratio = 0;
  double over_100_per_day = 0;
};

struct Summary {
  std::string kind;  ///< of the class; "*": of all
  size_t traces = 0;
  std::vector<PolicyFigures> policies;  ///< as in the plan
  PolicyFigures perfect;
  std::vector<std::optional<EqualMinutes>> equal;  ///< by family; absent: no setting does it
};

/// Over these traces, places in `run`, at least one; all were replayed.
Summary Summarise(const ReplayRun& run, const std::vector<size_t>& traces, std::string kind);
/// Each class of traces in the order in which they come, then all; none where one trace alone was
/// replayed, and all alone where there is one class.
std::vector<Summary> MeansOf(const ReplayRun& run);

/// So few minutes may be chance.
inline constexpr uint64_t kFewMinutes = 5;

}  // namespace tidemark::replay_policies
