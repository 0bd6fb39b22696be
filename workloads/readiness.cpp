#include "workloads/readiness.h"

namespace tidemark::workloads {

void PodReadiness::Say(uint32_t by, int64_t time_ms, bool is_ready, int64_t last_ms) {
  const bool is_told = series != kNoSeries;
  if ((is_told && by != series && time_ms < last_ms) || time_ms < changed_ms) return;
  const State said = is_ready ? State::kReady : State::kUnready;
  const bool goes_on = is_told && last_ms >= time_ms - kMaxGapMs;
  if (!goes_on || said != now) {
    before = goes_on ? now : State::kUnknown;
    now = said;
    changed_ms = time_ms;
  }
  series = by;
}

void PodReadiness::End(uint32_t by, int64_t time_ms) {
  if (series != by || by == kNoSeries) return;
  before = now;
  now = State::kUnknown;
  if (time_ms > changed_ms) changed_ms = time_ms;
  series = kNoSeries;
}

PodReadiness::State PodReadiness::At(int64_t time_ms, int64_t last_ms) const {
  if (time_ms < changed_ms) return before;
  if (series == kNoSeries || last_ms < time_ms - kMaxGapMs) return State::kUnknown;
  return now;
}

}  // namespace tidemark::workloads
