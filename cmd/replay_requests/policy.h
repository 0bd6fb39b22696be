#pragma once
// What says a request from usage that it has seen: a preset, the user's own profiles, or a plain
// rule to compare with.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "cmd/replay_requests/trace.h"

namespace tidemark::replay_requests {

/// Requests of each pod; absent where the policy says nothing.
using Requests = ByResource<std::optional<double>>;

/// One replay of one trace, fed in order of time. Not thread-safe.
class Policy {
 public:
  virtual ~Policy() = default;

  /// What it would request from `time_ms` on. It has seen every step before, and kills in them.
  virtual Requests Ask(int64_t time_ms) = 0;

  /// Usage of all pods at one step.
  virtual void See(const Trace& trace, size_t step) = 0;

  /// A pod (its place in the trace) was killed for memory at this step, with `request` bytes as its
  /// request and limit. After See of the step.
  virtual void SeeKill(size_t pod, int64_t time_ms, double request) {
    static_cast<void>(pod);
    static_cast<void>(time_ms);
    static_cast<void>(request);
  }
};

}  // namespace tidemark::replay_requests
