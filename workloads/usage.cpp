#include "workloads/usage.h"

#include <algorithm>
#include <utility>

namespace tidemark::workloads {
namespace {

int64_t MinuteOf(int64_t time_ms) { return time_ms - time_ms % kMinuteMs; }

}  // namespace

bool ContainerUsage::LeaderIsGone(const Part& part, int64_t now_ms) const {
  return part.ended || part.leader == kNoSeries || now_ms - part.last_ms > 2 * part.interval_ms;
}

bool ContainerUsage::HasRival(const PartKey& key, int64_t now_ms) const {
  for (const Part& part : parts_) {
    const bool other_exporter = (part.key.run == 0) != (key.run == 0);
    const bool whole = key.is_one_core && !part.key.is_one_core && part.key.run == key.run;
    if ((other_exporter || whole) && !LeaderIsGone(part, now_ms)) return true;
  }
  return false;
}

void ContainerUsage::AddToMinute(Part& part, int64_t start_ms, double amount, int64_t from_ms,
                                 int64_t to_ms) const {
  if (start_ms < closed_until_ms_) return;  // given out already
  const auto begin = static_cast<int32_t>(std::max(from_ms, start_ms) - start_ms);
  const auto end = static_cast<int32_t>(std::min(to_ms, start_ms + kMinuteMs) - start_ms);
  if (part.open.empty() || part.open.back().start_ms < start_ms) {
    part.open.push_back({start_ms, amount, begin, end});
    return;
  }
  OpenMinute& minute = part.open.back();
  minute.amount =
      kind_ == Kind::kCounter ? minute.amount + amount : std::max(minute.amount, amount);
  minute.end_ms = end;
}

/// Whether the counter has started from 0 since the part's last sample: it fell, or its sender says
/// when it started (remote write 2.0), which shows a restart that a higher value hides. A start at
/// the last sample or before says nothing new.
bool ContainerUsage::StartedAnew(const Part& part, Sample sample) {
  const bool said =
      sample.start_timestamp_ms > part.last_ms && sample.start_timestamp_ms <= sample.timestamp_ms;
  return said || sample.value < part.last_value;
}

/// Spreads the increase since the part's last sample; true when the counter had started anew.
bool ContainerUsage::AddIncrease(Part& part, Sample sample) const {
  const bool reset = StartedAnew(part, sample);
  const int64_t span_ms = sample.timestamp_ms - part.last_ms;
  if (span_ms <= 0 || span_ms > kMaxGapMs) return reset;
  const double increase = reset ? sample.value : sample.value - part.last_value;
  for (int64_t start = MinuteOf(part.last_ms); start < sample.timestamp_ms; start += kMinuteMs) {
    const int64_t from = std::max(start, part.last_ms);
    const int64_t to = std::min(start + kMinuteMs, sample.timestamp_ms);
    const double share = static_cast<double>(to - from) / static_cast<double>(span_ms);
    AddToMinute(part, start, increase * share, from, to);
  }
  return reset;
}

UsageOutcome ContainerUsage::Add(uint32_t series, PartKey key, Sample sample,
                                 std::vector<UsageMinute>& closed, uint64_t& dropped) {
  const int64_t now = sample.timestamp_ms;
  if (HasRival(key, now)) return UsageOutcome::kSecondScrape;
  if (!key.is_one_core) {  // the rows of single cores would count twice
    const auto core_of_this = [&key](const Part& part) {
      return part.key.is_one_core && part.key.run == key.run;
    };
    parts_.erase(std::remove_if(parts_.begin(), parts_.end(), core_of_this), parts_.end());
  }

  auto part =
      std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.key == key; });
  UsageOutcome outcome = UsageOutcome::kTaken;
  if (part == parts_.end()) {
    parts_.emplace_back();
    part = parts_.end() - 1;
    part->key = key;
    part->leader = series;
  } else {
    if (part->leader != series) {
      const bool anew =
          kind_ == Kind::kCounter && now > part->last_ms && StartedAnew(*part, sample);
      if (!anew && !LeaderIsGone(*part, now)) return UsageOutcome::kSecondScrape;
      if (now <= part->last_ms) return UsageOutcome::kSecondScrape;  // never go back in time
      part->leader = series;
    } else if (now > part->last_ms) {
      part->interval_ms = std::min(now - part->last_ms, kMaxGapMs);
    }
    if (kind_ == Kind::kCounter && AddIncrease(*part, sample)) outcome = UsageOutcome::kReset;
  }
  if (kind_ == Kind::kLevel) AddToMinute(*part, MinuteOf(now), sample.value, now, now);
  part->last_ms = now;
  part->last_value = sample.value;
  part->ended = false;
  last_ms_ = std::max(last_ms_, now);
  CloseMinutes(ClosableUntil(), closed, dropped);
  return outcome;
}

void ContainerUsage::End(uint32_t series, std::vector<UsageMinute>& closed, uint64_t& dropped) {
  for (Part& part : parts_) {
    if (part.leader == series) part.ended = true;
  }
  CloseMinutes(ClosableUntil(), closed, dropped);
}

void ContainerUsage::Forget(uint32_t series) {
  for (Part& part : parts_) {
    if (part.leader == series) part.leader = kNoSeries;
  }
}

bool ContainerUsage::NeedsFlush() const {
  const auto lives = [this](const Part& part) { return Lives(part); };
  const auto open = [](const Part& part) { return !part.open.empty(); };
  return std::none_of(parts_.begin(), parts_.end(), lives) &&
         std::any_of(parts_.begin(), parts_.end(), open);
}

bool ContainerUsage::HasEnded() const {
  return std::none_of(parts_.begin(), parts_.end(),
                      [this](const Part& part) { return Lives(part) || !part.open.empty(); });
}

void ContainerUsage::Flush(std::vector<UsageMinute>& closed, uint64_t& dropped) {
  if (NeedsFlush()) CloseMinutes(MinuteOf(last_ms_) + kMinuteMs, closed, dropped);
}

bool ContainerUsage::Lives(const Part& part) const {
  return !part.ended && part.leader != kNoSeries && part.last_ms >= last_ms_ - kMaxGapMs;
}

int64_t ContainerUsage::ClosableUntil() const {
  int64_t until = last_ms_;
  for (const Part& part : parts_) {
    if (Lives(part)) until = std::min(until, part.last_ms);
  }
  return until;
}

bool ContainerUsage::GoesOn() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [this](const Part& part) { return Lives(part); });
}

std::optional<double> ContainerUsage::TakeMinute(int64_t start_ms) {
  const auto usage = OpenUsage(start_ms);
  for (Part& part : parts_) {
    if (!part.open.empty() && part.open.front().start_ms == start_ms) {
      part.open.erase(part.open.begin());
    }
  }
  return usage;
}

/// Sums the minute over all parts.
std::optional<double> ContainerUsage::OpenUsage(int64_t start_ms) const {
  double amount = 0;
  boost::container::small_vector<std::pair<uint64_t, double>, 2> levels;  // by run
  boost::container::small_vector<std::pair<int32_t, int32_t>, 4> covered;
  for (const Part& part : parts_) {
    if (part.open.empty() || part.open.front().start_ms != start_ms) continue;
    const OpenMinute& minute = part.open.front();
    amount += minute.amount;
    covered.emplace_back(minute.begin_ms, minute.end_ms);
    const auto run = std::find_if(levels.begin(), levels.end(), [&part](const auto& level) {
      return level.first == part.key.run;
    });
    if (run == levels.end()) {
      levels.emplace_back(part.key.run, minute.amount);
    } else {
      run->second += minute.amount;
    }
  }
  if (covered.empty()) return std::nullopt;
  if (kind_ == Kind::kLevel) {
    double usage = 0;
    for (const auto& [run, level] : levels) usage = std::max(usage, level);
    return usage;
  }
  std::sort(covered.begin(), covered.end());
  int64_t covered_ms = 0;
  int32_t reached = 0;
  for (const auto& [begin, end] : covered) {
    const int32_t from = std::max(begin, reached);
    if (end > from) covered_ms += end - from;
    reached = std::max(reached, end);
  }
  if (covered_ms * 2 < kMinuteMs) return std::nullopt;
  return amount / (static_cast<double>(covered_ms) / 1000.0);
}

void ContainerUsage::CloseMinutes(int64_t until_ms, std::vector<UsageMinute>& closed,
                                  uint64_t& dropped) {
  for (;;) {
    int64_t oldest = std::numeric_limits<int64_t>::max();
    for (const Part& part : parts_) {
      if (!part.open.empty()) oldest = std::min(oldest, part.open.front().start_ms);
    }
    if (oldest == std::numeric_limits<int64_t>::max() || oldest + kMinuteMs > until_ms) break;
    if (const auto usage = TakeMinute(oldest)) {
      closed.push_back({oldest, *usage});
    } else {
      ++dropped;
    }
    closed_until_ms_ = oldest + kMinuteMs;
  }
  if (parts_.size() > 1) {
    const auto spent = [this](const Part& part) {
      return part.open.empty() && part.last_ms < last_ms_ - kMaxGapMs;
    };
    parts_.erase(std::remove_if(parts_.begin(), parts_.end(), spent), parts_.end());
  }
}

size_t ContainerUsage::MemoryBytes() const {
  size_t bytes = sizeof(*this);
  if (parts_.capacity() > 1) bytes += parts_.capacity() * sizeof(Part);
  for (const Part& part : parts_) {
    if (part.open.capacity() > 2) bytes += part.open.capacity() * sizeof(OpenMinute);
  }
  return bytes;
}

}  // namespace tidemark::workloads
