#pragma once
// The shared load traces as demand, minute by minute, in pods' worth.

#include "scaling/replay.h"
#include "tests/estimators/load_traces.h"

namespace tidemark::scaling {

/// Steps of five minutes are drawn as straight lines, as in the reference replays.
inline ReplayDemand MinutesOf(const estimators::LoadTrace& trace) {
  ReplayDemand demand{.first = trace.seconds.front() / 60, .values = {}};
  const int64_t steps = trace.step_seconds / 60;
  for (size_t i = 0; i + 1 < trace.values.size(); ++i) {
    for (int64_t step = 0; step < steps; ++step) {
      const double share = static_cast<double>(step) / static_cast<double>(steps);
      const double value = trace.values[i] + share * (trace.values[i + 1] - trace.values[i]);
      demand.values.push_back(value * trace.pods_per_unit);
    }
  }
  demand.values.push_back(trace.values.back() * trace.pods_per_unit);
  return demand;
}

}  // namespace tidemark::scaling
