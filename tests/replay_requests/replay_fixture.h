#pragma once
// Traces and policies of a few samples.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cmd/replay_requests/policy.h"
#include "cmd/replay_requests/trace.h"

namespace tidemark::replay_requests {

inline constexpr int64_t kMinute = 60'000;
inline constexpr int64_t kHour = 60 * kMinute;
inline constexpr int64_t kStart = 1'700'006'400'000;  // 2023-11-15T00:00:00Z

/// The same samples for CPU and memory unless `memory` is given.
inline PodUsage Pod(std::string name, const std::vector<double>& cpu,
                    const std::vector<double>& memory = {}) {
  PodUsage pod;
  pod.pod = std::move(name);
  pod.samples = {cpu, memory.empty() ? cpu : memory};
  return pod;
}

inline Trace TraceOf(std::vector<PodUsage> pods, int64_t step_ms = 5 * kMinute) {
  Trace trace;
  trace.name = "trace";
  trace.workload.workload = "trace";
  trace.start_ms = kStart;
  trace.step_ms = step_ms;
  trace.steps = pods.front().samples[0].size();
  trace.pods = std::move(pods);
  return trace;
}

/// Says what it was given, and writes down what it hears.
class ScriptedPolicy final : public Policy {
 public:
  explicit ScriptedPolicy(std::vector<Requests> script) : script_(std::move(script)) {}

  Requests Ask(int64_t time_ms) override {
    asked.push_back(time_ms);
    seen_when_asked.push_back(seen);
    return script_.at(asked.size() - 1);
  }
  void See(const Trace&, size_t) override { ++seen; }
  void SeeKill(size_t pod, int64_t time_ms, double request) override {
    kills.push_back({pod, time_ms, request, seen});
  }

  struct Kill {
    size_t pod = 0;
    int64_t time_ms = 0;
    double request = 0;
    size_t seen = 0;
    friend bool operator==(const Kill&, const Kill&) = default;
  };
  std::vector<int64_t> asked;
  std::vector<size_t> seen_when_asked;
  std::vector<Kill> kills;
  size_t seen = 0;

 private:
  std::vector<Requests> script_;
};

}  // namespace tidemark::replay_requests
