#pragma once
// The parts of the forecast benchmark. Each prints lines `SYSTEM METRIC VALUE`, which
// scripts/bench.d/forecast.py reads; several runs make one measurement, of which the best counts.

#include <ctime>

namespace tidemark::bench {

struct PartOptions {
  bool quick = false;  ///< only to see that it works
};

/// CPU seconds of this thread: what else the machine does counts as little as can be.
inline double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// One line.
void Say(const char* system, const char* metric, double value);

/// Each returns 0, or 1 when it has found something wrong and said so on stderr.
int RunNetworks(const PartOptions& options);
/// 300 workloads; figures are for as many as their names say. Each is the best of three rounds.
int RunLinear(const PartOptions& options);

}  // namespace tidemark::bench
