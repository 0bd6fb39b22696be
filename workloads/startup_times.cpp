#include "workloads/startup_times.h"

#include <algorithm>

#include "model/scaling.h"
#include "workloads/saved_text.h"

namespace tidemark::workloads {

void StartupTimes::Add(int64_t start_ms, int64_t duration_ms) {
  const Start start{start_ms, std::clamp<int64_t>(duration_ms, 0, kMaxStartupMs)};
  starts_.insert(std::upper_bound(starts_.begin(), starts_.end(), start), start);
  if (starts_.size() > kMostStarts) starts_.erase(starts_.begin());
}

void StartupTimes::Hear(int64_t duration_ms) {
  if (duration_ms < 0 || duration_ms > kMaxStartupMs) return;
  heard_ms_ = heard_ms_ < 0 ? duration_ms : std::min(heard_ms_, duration_ms);
}

std::optional<int64_t> StartupTimes::Usual() const {
  if (starts_.empty()) return heard_ms_ < 0 ? std::nullopt : std::optional(heard_ms_);
  std::vector<int64_t> durations;
  durations.reserve(starts_.size());
  for (const Start& start : starts_) durations.push_back(start.duration_ms);
  std::ranges::sort(durations);
  const size_t rank = (4 * durations.size() + 4) / 5;  // ceil of 0.8 n, from 1
  return durations[rank - 1];
}

void StartupTimes::TakeOver(const StartupTimes& other) {
  for (const Start& start : other.starts_) Add(start.start_ms, start.duration_ms);
  if (other.heard_ms_ >= 0) Hear(other.heard_ms_);
}

void StartupTimes::Save(ByteWriter& out, int64_t base_ms) const {
  out.Varint(starts_.size());
  for (const Start& start : starts_) {
    SaveMs(out, start.start_ms, base_ms);
    out.Varint(static_cast<uint64_t>(start.duration_ms));
  }
  out.Varint(static_cast<uint64_t>(heard_ms_ + 1));
}

std::optional<StartupTimes> StartupTimes::Restore(ByteReader& in, int64_t base_ms) {
  StartupTimes times;
  constexpr size_t kLeastStart = 2;
  const uint64_t count = in.Count(kLeastStart);
  bool good = count <= kMostStarts;
  for (uint64_t i = 0; good && i < count; ++i) {
    const int64_t start_ms = RestoreTakenMs(in, base_ms);
    const uint64_t duration_ms = in.Varint();
    const Start start{start_ms, static_cast<int64_t>(duration_ms)};
    good = !in.failed() && duration_ms <= kMaxStartupMs &&
           (times.starts_.empty() || !(start < times.starts_.back()));
    times.starts_.push_back(start);
  }
  const uint64_t heard = in.Varint();
  good = good && heard <= kMaxStartupMs + 1;
  times.heard_ms_ = static_cast<int64_t>(heard) - 1;
  if (!good) in.Fail();
  if (in.failed()) return std::nullopt;
  return times;
}

}  // namespace tidemark::workloads
