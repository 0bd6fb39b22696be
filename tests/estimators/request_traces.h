#pragma once
// The request traces and what a request that followed them would have been worth.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::estimators {

inline constexpr int kStepSeconds = 300;
inline constexpr int kStepsAnHour = 12;
inline constexpr int kWarmUpSteps = 2 * 24 * kStepsAnHour;

/// What one resource of one workload used: step by step, the pods of a step together.
struct UsageTrace {
  std::string name;
  std::string group;  ///< the manifest's class
  bool is_real = false;
  bool tuned_on = false;  ///< every second one of its class, from the first on
  int64_t start_seconds = 0;
  size_t pods = 1;
  std::vector<double> cpu = {};
  std::vector<double> memory = {};

  size_t steps() const { return cpu.size() / pods; }
};

/// The folder's traces in the order of its manifest; nullopt, and a line on stdout, where there is
/// none. Fails the test where it cannot be read.
std::optional<std::vector<UsageTrace>> ReadRequestTraces();

/// Requests by step: those in force from kWarmUpSteps on.
struct Worth {
  double slack = 0;   ///< mean (request - use) / mean use
  double breach = 0;  ///< share of the samples above the request
  double depth = 0;   ///< mean (use - request) / request of those
  int changes = 0;    ///< of more than 10 %
  int kills = 0;      ///< runs of steps of one pod above the request
  double pod_days = 0;
};
/// `requests`: one for each period of `period` steps after the warm-up; it holds for all pods.
Worth Judge(const std::vector<double>& use, size_t pods, const std::vector<double>& requests,
            size_t period);

/// Of several workloads, each counting the same; kills over all pod days.
struct Summary {
  double slack = 0;
  double breach = 0;
  double changes = 0;
  double kills_per_pod_day = 0;
};
Summary Mean(const std::vector<Worth>& all);

/// A policy's curve by its knob (so ordered that breaches fall) where `what` falls to `target` for
/// good: linear against its logarithm. Nullopt where it never does.
std::optional<Summary> CrossingOf(const std::vector<Summary>& curve, double Summary::*what,
                                  double target);

}  // namespace tidemark::estimators
