#include "workloads/kill_watch.h"

#include <algorithm>
#include <cmath>

namespace tidemark::workloads {
namespace {

/// How long a restart waits for its time where no series tells one.
constexpr int64_t kTimeWaitMs = kMinuteMs;
/// How long it waits for its reason, and for its time where a series tells one.
constexpr int64_t kReasonWaitMs = kMaxGapMs;
/// 2001-01-01: no container ended before.
constexpr double kEarliestSeconds = 978'307'200;
constexpr size_t kMaxRequests = 4;
constexpr size_t kMaxReasons = 4;
constexpr size_t kMaxWaiting = 4;

/// Of restarts, events or bytes.
bool IsCount(double value) { return std::isfinite(value) && value >= 0; }

/// When a container was killed whose restart was told at `told_ms`.
int64_t KillTime(double seconds, int64_t told_ms) {
  if (!(seconds >= kEarliestSeconds)) return told_ms;  // NaN too
  const double ms = seconds * 1000;
  return ms > static_cast<double>(told_ms) ? told_ms : static_cast<int64_t>(ms);
}

}  // namespace

void KillWatch::SetRequest(uint64_t uid, Sample sample) {
  if (!IsCount(sample.value)) return;
  for (auto request = requests_.rbegin(); request != requests_.rend(); ++request) {
    if (request->uid != uid) continue;
    if (request->bytes == sample.value) return;
    break;
  }
  if (requests_.size() >= kMaxRequests) requests_.erase(requests_.begin());
  requests_.push_back({uid, sample.timestamp_ms, sample.value});
}

std::optional<double> KillWatch::RequestBefore(uint64_t uid, int64_t time_ms) const {
  const Request* before = nullptr;
  const Request* first = nullptr;
  for (const Request& request : requests_) {
    if (uid != 0 && request.uid != 0 && request.uid != uid) continue;
    if (request.from_ms < time_ms && (before == nullptr || request.from_ms >= before->from_ms)) {
      before = &request;
    }
    if (first == nullptr || request.from_ms < first->from_ms) first = &request;
  }
  if (before != nullptr) return before->bytes;
  return first == nullptr ? std::nullopt : std::optional(first->bytes);
}

KillWatch::Run* KillWatch::Find(uint64_t key, bool of_events) {
  const auto found = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) {
    return run.key == key && run.of_events == of_events;
  });
  return found == runs_.end() ? nullptr : &*found;
}

KillWatch::Run& KillWatch::RunOf(uint64_t key, bool of_events) {
  if (Run* const run = Find(key, of_events)) return *run;
  Run& run = runs_.emplace_back();
  run.key = key;
  run.of_events = of_events;
  return run;
}

KillWatch::Reader& KillWatch::ReaderOf(Run& run, uint32_t series, Kind kind) {
  const auto found =
      std::find_if(run.readers.begin(), run.readers.end(),
                   [series](const Reader& reader) { return reader.series == series; });
  if (found != run.readers.end()) return *found;
  Reader& reader = run.readers.emplace_back();
  reader.series = series;
  reader.kind = kind;
  reader.value = -1;
  return reader;
}

bool KillWatch::Rises(Run& run, Reader& reader, Sample sample, Outcome& outcome) {
  const double before = reader.value;
  reader.value = sample.value;
  if (run.count < 0) {
    run.count = sample.value;
    return false;
  }
  if (sample.value < before) {
    // Only when all who tell it have fallen: one of two scrapes may lag behind the other.
    double highest = -1;
    for (const Reader& other : run.readers) {
      if (other.kind == reader.kind) highest = std::max(highest, other.value);
    }
    run.count = std::min(run.count, highest);
    run.killed = std::min(run.killed, run.count);
    return false;
  }
  if (sample.value > run.count) {
    run.count = sample.value;
    return true;
  }
  if (before < 0 || sample.value <= before) return false;
  for (Restart& restart : run.waiting) {
    if (restart.count != sample.value) continue;
    ++restart.repeats;
    return false;
  }
  if (sample.value <= run.killed) ++outcome.repeated;
  return false;
}

void KillWatch::SetRestarts(uint64_t uid, uint32_t series, Sample sample, int64_t now_ms,
                            Outcome& outcome) {
  if (!IsCount(sample.value)) return;
  Run& run = RunOf(uid, false);
  Reader& reader = ReaderOf(run, series, Kind::kRestarts);
  int64_t since_ms = kNever;
  for (const Reader& other : run.readers) {
    if (other.kind == Kind::kRestarts) since_ms = std::max(since_ms, other.last_ms);
  }
  reader.last_ms = sample.timestamp_ms;
  reader.ended = false;
  if (!Rises(run, reader, sample, outcome)) return;
  if (run.waiting.size() >= kMaxWaiting) {
    run.waiting.erase(run.waiting.begin());
    ++outcome.no_kills;
  }
  const int64_t time_ms = sample.timestamp_ms;
  run.waiting.push_back({time_ms, since_ms, std::max(time_ms, now_ms), sample.value, 0});
  Decide(run, kNever, outcome);
}

/// Keeps what was said, by time. What comes late says nothing new; of two at one time memory wins.
void KillWatch::SayReason(Run& run, int64_t time_ms, bool is_memory) {
  auto& reasons = run.reasons;
  if (!reasons.empty()) {
    Reason& newest = reasons.back();
    if (time_ms < newest.last_ms) return;
    if (newest.is_memory == is_memory) {
      newest.last_ms = time_ms;
      return;
    }
    if (time_ms == newest.last_ms) {
      if (!is_memory) return;
      --newest.last_ms;
    }
  }
  if (reasons.size() >= kMaxReasons) reasons.erase(reasons.begin());
  reasons.push_back({time_ms, is_memory});
}

void KillWatch::SetReason(uint64_t uid, uint32_t series, Sample sample, Outcome& outcome) {
  if (!IsCount(sample.value)) return;
  Run& run = RunOf(uid, false);
  Reader& reader = ReaderOf(run, series, Kind::kReason);
  reader.last_ms = sample.timestamp_ms;
  reader.ended = false;
  reader.value = sample.value;
  SayReason(run, sample.timestamp_ms, sample.value > 0);
  Decide(run, kNever, outcome);
}

void KillWatch::SetOtherReason(uint64_t uid, Sample sample, Outcome& outcome) {
  Run* const run = Find(uid, false);
  if (run == nullptr || !(sample.value > 0)) return;
  SayReason(*run, sample.timestamp_ms, false);
  Decide(*run, kNever, outcome);
}

void KillWatch::SetTerminated(uint64_t uid, uint32_t series, Sample sample, Outcome& outcome) {
  Run& run = RunOf(uid, false);
  Reader& reader = ReaderOf(run, series, Kind::kTerminated);
  reader.last_ms = sample.timestamp_ms;
  reader.ended = false;
  reader.value = sample.value;
  Decide(run, kNever, outcome);
}

bool KillWatch::RestartsAreToldAt(int64_t time_ms) const {
  for (const Run& run : runs_) {
    for (const Reader& reader : run.readers) {
      if (reader.kind == Kind::kRestarts && !reader.ended &&
          reader.last_ms >= time_ms - kMaxGapMs) {
        return true;
      }
    }
  }
  return false;
}

void KillWatch::SetOomEvents(uint64_t run_key, uint32_t series, Sample sample, Outcome& outcome) {
  if (!IsCount(sample.value)) return;
  Run& run = RunOf(run_key, true);
  Reader& reader = ReaderOf(run, series, Kind::kOomEvents);
  reader.last_ms = sample.timestamp_ms;
  reader.ended = false;
  if (!Rises(run, reader, sample, outcome)) return;
  if (RestartsAreToldAt(sample.timestamp_ms)) {
    ++outcome.repeated;
    return;
  }
  run.killed = run.count;
  event_kill_ms_ = std::max(event_kill_ms_, sample.timestamp_ms);
  outcome.kills.push_back({sample.timestamp_ms, RequestBefore(0, sample.timestamp_ms)});
}

void KillWatch::Decide(Run& run, int64_t now_ms, Outcome& outcome) {
  // In their order: what one waits for, those after it wait for too.
  while (!run.waiting.empty() && DecideOne(run, run.waiting.front(), now_ms, outcome)) {
    run.waiting.erase(run.waiting.begin());
  }
}

bool KillWatch::DecideOne(Run& run, const Restart& restart, int64_t now_ms, Outcome& outcome) {
  const auto reason = std::find_if(run.reasons.begin(), run.reasons.end(), [&](const Reason& said) {
    return said.last_ms >= restart.time_ms;
  });
  const auto waited = [&](int64_t wait_ms) {
    return now_ms != kNever && now_ms >= restart.from_ms + wait_ms;
  };
  if (reason == run.reasons.end() && !waited(kReasonWaitMs)) return false;
  if (reason == run.reasons.end() || !reason->is_memory) {
    ++outcome.no_kills;
    return true;
  }
  const Reader* terminated = nullptr;
  bool has_time = false;
  for (const Reader& reader : run.readers) {
    if (reader.kind != Kind::kTerminated) continue;
    if (reader.last_ms >= restart.time_ms) terminated = &reader;
    has_time = has_time || !reader.ended;
  }
  if (terminated == nullptr && !waited(has_time ? kReasonWaitMs : kTimeWaitMs)) return false;
  run.killed = std::max(run.killed, restart.count);
  outcome.repeated += restart.repeats;
  // The second source may have told it while this one was away.
  if (event_kill_ms_ > restart.since_ms && event_kill_ms_ <= restart.time_ms) {
    event_kill_ms_ = kNever;
    ++outcome.repeated;
    return true;
  }
  const int64_t time_ms =
      terminated == nullptr ? restart.time_ms : KillTime(terminated->value, restart.time_ms);
  outcome.kills.push_back({time_ms, RequestBefore(run.key, time_ms)});
  return true;
}

void KillWatch::End(uint32_t series, int64_t time_ms, Outcome& outcome) {
  for (Run& run : runs_) {
    for (Reader& reader : run.readers) {
      if (reader.series != series) continue;
      reader.ended = true;
      if (reader.kind != Kind::kReason) return;
      const bool told_on =
          std::any_of(run.readers.begin(), run.readers.end(), [&](const Reader& other) {
            return other.kind == Kind::kReason && !other.ended &&
                   other.last_ms >= time_ms - kMaxGapMs;
          });
      if (!told_on) SayReason(run, time_ms, false);
      Decide(run, kNever, outcome);
      return;
    }
  }
}

void KillWatch::Forget(uint32_t series, Outcome& outcome) {
  for (auto run = runs_.begin(); run != runs_.end(); ++run) {
    const auto reader =
        std::find_if(run->readers.begin(), run->readers.end(),
                     [series](const Reader& candidate) { return candidate.series == series; });
    if (reader == run->readers.end()) continue;
    run->readers.erase(reader);
    if (!run->readers.empty()) return;
    outcome.no_kills += static_cast<uint32_t>(run->waiting.size());
    runs_.erase(run);
    return;
  }
}

void KillWatch::Settle(int64_t now_ms, Outcome& outcome) {
  for (Run& run : runs_) Decide(run, now_ms, outcome);
}

bool KillWatch::IsSettled() const {
  return std::all_of(runs_.begin(), runs_.end(),
                     [](const Run& run) { return run.waiting.empty(); });
}

int64_t KillWatch::LastRestartsMs() const {
  int64_t last_ms = kNever;
  for (const Run& run : runs_) {
    for (const Reader& reader : run.readers) {
      if (reader.kind == Kind::kRestarts) last_ms = std::max(last_ms, reader.last_ms);
    }
  }
  return last_ms;
}

}  // namespace tidemark::workloads
