// A container's kill watch as bytes.
#include <algorithm>
#include <cmath>
#include <set>

#include "workloads/kill_watch.h"
#include "workloads/saved_text.h"

namespace tidemark::workloads {
namespace {

/// A count that was told, or -1.
bool IsSavedCount(double value) { return value == -1 || (std::isfinite(value) && value >= 0); }

// Bits of a reader.
constexpr uint8_t kKindBits = 0x03;
constexpr uint8_t kReaderEnded = 0x04;
constexpr uint8_t kReaderBits = 0x07;

}  // namespace

void KillWatch::Save(ByteWriter& out, int64_t base_ms) const {
  out.Varint(requests_.size());
  for (const Request& request : requests_) {
    out.Fixed64(request.uid);
    SaveMs(out, request.from_ms, base_ms);
    out.Double(request.bytes);
  }
  SaveMs(out, event_kill_ms_, base_ms);
  out.Varint(runs_.size());
  for (const Run& run : runs_) {
    out.Bool(run.of_events);
    out.Fixed64(run.key);
    out.Double(run.count);
    out.Double(run.killed);
    out.Varint(run.readers.size());
    for (const Reader& reader : run.readers) {
      out.Byte(static_cast<uint8_t>(static_cast<unsigned>(reader.kind) |
                                    (reader.ended ? kReaderEnded : 0U)));
      out.Varint(reader.series);
      SaveMs(out, reader.last_ms, base_ms);
      out.Double(reader.value);
    }
    out.Varint(run.reasons.size());
    for (const Reason& reason : run.reasons) {
      out.Bool(reason.is_memory);
      SaveMs(out, reason.last_ms, base_ms);
    }
    out.Varint(run.waiting.size());
    for (const Restart& restart : run.waiting) {
      SaveMs(out, restart.time_ms, base_ms);
      SaveMs(out, restart.since_ms, base_ms);
      SaveMs(out, restart.from_ms, base_ms);
      out.Double(restart.count);
      out.Varint(restart.repeats);
    }
  }
}

bool KillWatch::RestoreRun(ByteReader& in, int64_t base_ms, const Tells& tells, Run& run) {
  run.of_events = in.Bool();
  run.key = in.Fixed64();
  run.count = in.Double();
  run.killed = in.Double();
  if (!IsSavedCount(run.count) || !IsSavedCount(run.killed)) return false;
  constexpr size_t kLeastReader = 3 + sizeof(double);
  const uint64_t readers = in.Count(kLeastReader);
  if (readers == 0) return false;
  for (uint64_t i = 0; i < readers; ++i) {
    Reader& reader = run.readers.emplace_back();
    const uint8_t bits = in.Byte();
    const uint64_t series = in.Varint();
    reader.last_ms = RestoreTakenMs(in, base_ms);
    reader.value = in.Double();
    if (in.failed() || (bits & ~kReaderBits) != 0 || series >= kNoSeries) return false;
    reader.kind = static_cast<Kind>(bits & kKindBits);
    reader.ended = (bits & kReaderEnded) != 0;
    reader.series = static_cast<uint32_t>(series);
    const bool of_events = reader.kind == Kind::kOomEvents;
    if (of_events != run.of_events || !tells(reader.series, reader.kind, run.key)) return false;
    if (reader.kind != Kind::kTerminated && !IsSavedCount(reader.value)) return false;
  }
  constexpr size_t kLeastReason = 2;
  const uint64_t reasons = in.Count(kLeastReason);
  for (uint64_t i = 0; i < reasons; ++i) {
    const bool is_memory = in.Bool();
    const int64_t last_ms = RestoreTakenMs(in, base_ms);
    if (!run.reasons.empty() && last_ms < run.reasons.back().last_ms) return false;
    run.reasons.push_back({last_ms, is_memory});
  }
  constexpr size_t kLeastRestart = 4 + sizeof(double);
  const uint64_t waiting = in.Count(kLeastRestart);
  for (uint64_t i = 0; i < waiting; ++i) {
    Restart restart{};
    restart.time_ms = RestoreTakenMs(in, base_ms);
    restart.since_ms = RestoreMs(in, base_ms);
    restart.from_ms = RestoreTakenMs(in, base_ms);
    restart.count = in.Double();
    restart.repeats = static_cast<uint32_t>(in.Varint());
    if (!IsSavedCount(restart.count)) return false;
    run.waiting.push_back(restart);
  }
  return !in.failed();
}

std::optional<KillWatch> KillWatch::Restore(ByteReader& in, int64_t base_ms, const Tells& tells) {
  const auto fail = [&in] {
    in.Fail();
    return std::nullopt;
  };
  KillWatch watch;
  constexpr size_t kLeastRequest = 1 + sizeof(uint64_t) + sizeof(double);
  const uint64_t requests = in.Count(kLeastRequest);
  for (uint64_t i = 0; i < requests; ++i) {
    const uint64_t uid = in.Fixed64();
    const int64_t from_ms = RestoreTakenMs(in, base_ms);
    const double bytes = in.Double();
    if (!std::isfinite(bytes) || bytes < 0) return fail();
    watch.requests_.push_back({uid, from_ms, bytes});
  }
  watch.event_kill_ms_ = RestoreMs(in, base_ms);
  constexpr size_t kLeastRun = 1 + 3 * sizeof(uint64_t);
  const uint64_t runs = in.Count(kLeastRun);
  std::set<uint32_t> series;
  for (uint64_t i = 0; i < runs; ++i) {
    Run run;
    if (!RestoreRun(in, base_ms, tells, run) || watch.Find(run.key, run.of_events) != nullptr) {
      return fail();
    }
    for (const Reader& reader : run.readers) {
      if (!series.insert(reader.series).second) return fail();
    }
    watch.runs_.push_back(std::move(run));
  }
  if (in.failed()) return std::nullopt;
  return watch;
}

}  // namespace tidemark::workloads
