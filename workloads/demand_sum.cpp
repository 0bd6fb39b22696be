#include "workloads/demand_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/saved_text.h"

namespace tidemark::workloads {
namespace {

/// A minute is left out when more of its pods than one of so many are missing.
constexpr uint64_t kMissingOneOf = 10;

bool IsAligned(int64_t time_ms) { return time_ms == kNever || time_ms % kMinuteMs == 0; }

}  // namespace

void PodDemand::Add(UsageMinute minute) {
  if (minute.start_ms < passed_ms) return;
  auto at = std::ranges::lower_bound(open, minute.start_ms, {}, &UsageMinute::start_ms);
  if (at == open.end() || at->start_ms != minute.start_ms) {
    open.insert(at, minute);
  } else {
    at->usage += minute.usage;
  }
}

void PodDemand::DropBefore(int64_t start_ms) {
  open.erase(open.begin(), std::ranges::lower_bound(open, start_ms, {}, &UsageMinute::start_ms));
}

void PodDemand::CountsIn(int64_t start_ms) {
  if (run_since_ms == kNever || start_ms != last_count_ms + kMinuteMs) run_since_ms = start_ms;
  last_count_ms = start_ms;
}

bool PodDemand::IsSettled() const {
  constexpr int64_t kSettledMinutes = 3;
  return run_since_ms != kNever &&
         last_count_ms - run_since_ms >= (kSettledMinutes - 1) * kMinuteMs;
}

void PodDemand::Save(ByteWriter& out, int64_t base_ms) const {
  out.Byte(static_cast<uint8_t>(state));
  SaveMs(out, passed_ms, base_ms);
  SaveMs(out, last_count_ms, base_ms);
  SaveMs(out, run_since_ms, base_ms);
  out.Varint(open.size());
  for (const UsageMinute& minute : open) {
    SaveMs(out, minute.start_ms, base_ms);
    out.Double(minute.usage);
  }
}

bool PodDemand::Restore(ByteReader& in, int64_t base_ms) {
  passed_ms = RestoreTakenMs(in, base_ms);
  last_count_ms = RestoreMs(in, base_ms);
  run_since_ms = RestoreMs(in, base_ms);
  bool good = IsAligned(passed_ms) && IsAligned(last_count_ms) && IsAligned(run_since_ms) &&
              last_count_ms < passed_ms && run_since_ms <= last_count_ms;
  constexpr size_t kLeastOpen = 1 + sizeof(double);
  const uint64_t count = in.Count(kLeastOpen);
  for (uint64_t i = 0; good && i < count; ++i) {
    UsageMinute minute;
    minute.start_ms = RestoreTakenMs(in, base_ms);
    minute.usage = in.Double();
    good = !in.failed() && IsAligned(minute.start_ms) &&
           minute.start_ms >= (open.empty() ? passed_ms : open.back().start_ms + kMinuteMs);
    open.push_back(minute);
  }
  if (!good) in.Fail();
  return !in.failed();
}

DemandSum::Open& DemandSum::At(int64_t start_ms) {
  auto at = std::ranges::lower_bound(open_, start_ms, {}, &Open::start_ms);
  if (at == open_.end() || at->start_ms != start_ms) {
    at = open_.insert(at, Open{});
    at->start_ms = start_ms;
  }
  return *at;
}

bool DemandSum::Add(UsageMinute minute, bool is_young, Headroom headroom) {
  if (minute.start_ms < given_until_ms_) return false;
  Open& open = At(minute.start_ms);
  if (is_young) {
    open.young.push_back(minute.usage);
  } else {
    open.usage += minute.usage;
    ++open.pods;
  }
  if (headroom == Headroom::kNone) ++open.held_back;
  if (headroom == Headroom::kSome) ++open.free;
  if (headroom == Headroom::kUnknown) ++open.unknown;
  return true;
}

void DemandSum::AddMissing(int64_t start_ms) {
  if (start_ms >= given_until_ms_) ++At(start_ms).missing;
}

void DemandSum::LeaveOut(int64_t start_ms) {
  if (start_ms >= given_until_ms_) At(start_ms).is_left_out = true;
}

bool DemandSum::Open::IsCensored() const {
  const uint64_t known = uint64_t{held_back} + free;
  return held_back > 0 && uint64_t{held_back} * 2 >= known && known >= unknown;
}

/// nullopt: not known well enough.
std::optional<DemandMinute> DemandSum::Open::Total() const {
  DemandMinute minute{start_ms, usage, pods + static_cast<uint32_t>(young.size()), missing,
                      IsCensored()};
  if (minute.pods == 0 || is_left_out) return std::nullopt;
  const uint64_t known = uint64_t{minute.pods} + missing;
  if (missing * kMissingOneOf > known) return std::nullopt;
  for (const double one : young) {
    minute.demand += pods == 0 ? one : std::min(one, usage / static_cast<double>(pods));
  }
  if (!std::isfinite(minute.demand)) return std::nullopt;
  return minute;
}

void DemandSum::Close(int64_t until_ms, std::vector<DemandMinute>& out) {
  auto at = open_.begin();
  for (; at != open_.end() && at->start_ms + kMinuteMs <= until_ms; ++at) {
    if (const auto minute = at->Total()) out.push_back(*minute);
  }
  open_.erase(open_.begin(), at);
  given_until_ms_ = std::max(given_until_ms_, until_ms);
}

void DemandSum::Enter(int64_t passed_ms) {
  auto at = std::ranges::lower_bound(waited_, passed_ms, {}, &Waited::passed_ms);
  if (at == waited_.end() || at->passed_ms != passed_ms) at = waited_.insert(at, {passed_ms, 0});
  ++at->pods;
}

bool DemandSum::Leave(int64_t passed_ms) {
  const auto at = std::ranges::lower_bound(waited_, passed_ms, {}, &Waited::passed_ms);
  if (at == waited_.end() || at->passed_ms != passed_ms || --at->pods > 0) return false;
  const bool was_slowest = at == waited_.begin();
  waited_.erase(at);
  return was_slowest;
}

bool DemandSum::Move(int64_t from_ms, int64_t to_ms) {
  Enter(to_ms);
  return Leave(from_ms);
}

void DemandSum::Save(ByteWriter& out, int64_t base_ms) const {
  SaveMs(out, given_until_ms_, base_ms);
  out.Varint(open_.size());
  for (const Open& open : open_) {
    SaveMs(out, open.start_ms, base_ms);
    out.Double(open.usage);
    out.Varint(open.pods);
    out.Varint(open.missing);
    out.Varint(open.held_back);
    out.Varint(open.free);
    out.Varint(open.unknown);
    out.Bool(open.is_left_out);
    out.Varint(open.young.size());
    for (const double one : open.young) out.Double(one);
  }
}

std::optional<DemandSum> DemandSum::Restore(ByteReader& in, int64_t base_ms, bool has_headroom) {
  constexpr uint64_t kMostPods = uint64_t{1} << 31;  // so that no count of them overflows
  DemandSum sum(RestoreMs(in, base_ms));
  bool good = IsAligned(sum.given_until_ms_);
  constexpr size_t kLeastOpen = 5 + sizeof(double);
  const uint64_t count = in.Count(kLeastOpen);
  for (uint64_t i = 0; good && i < count; ++i) {
    Open open;
    open.start_ms = RestoreTakenMs(in, base_ms);
    open.usage = in.Double();
    const uint64_t pods = in.Varint();
    const uint64_t missing = in.Varint();
    const uint64_t held_back = has_headroom ? in.Varint() : 0;
    const uint64_t free = has_headroom ? in.Varint() : 0;
    const uint64_t unknown = has_headroom ? in.Varint() : 0;
    open.is_left_out = in.Bool();
    const uint64_t young = in.Count(sizeof(double));
    open.young.reserve(young);
    for (uint64_t y = 0; y < young; ++y) open.young.push_back(in.Double());
    good = !in.failed() && pods + young < kMostPods && missing < kMostPods &&
           held_back < kMostPods && free < kMostPods && unknown < kMostPods &&
           IsAligned(open.start_ms) && open.start_ms >= sum.given_until_ms_ &&
           (sum.open_.empty() || sum.open_.back().start_ms < open.start_ms);
    open.pods = static_cast<uint32_t>(pods);
    open.missing = static_cast<uint32_t>(missing);
    open.held_back = static_cast<uint32_t>(held_back);
    open.free = static_cast<uint32_t>(free);
    open.unknown = static_cast<uint32_t>(unknown);
    sum.open_.push_back(std::move(open));
  }
  if (!good) in.Fail();
  if (in.failed()) return std::nullopt;
  return sum;
}

}  // namespace tidemark::workloads
