#include "engine/kill_log.h"

#include <algorithm>
#include <cmath>

namespace tidemark::engine {
namespace {

bool Counts(const KillRecord& kill, int64_t now_ms, int64_t hold_ms) {
  return kill.time_ms > now_ms - hold_ms;
}

}  // namespace

void KillLog::Add(const KillRecord& kill) {
  const auto place = std::ranges::find_if(
      kills_, [&](const auto& other) { return other.time_ms <= kill.time_ms; });
  kills_.insert(place, kill);
  if (kills_.size() > kMost) DropOne();
}

/// The oldest that a later one outlasts with no smaller demand. Where all later ones ask for less,
/// the newest but one: what it asked for is missed only after all older ones have aged.
void KillLog::DropOne() {
  double most = kills_.front().needed;
  auto dropped = kills_.begin() + 1;
  for (auto kill = kills_.begin() + 1; kill != kills_.end(); ++kill) {
    if (kill->needed <= most) dropped = kill;
    most = std::max(most, kill->needed);
  }
  kills_.erase(dropped);
}

void KillLog::Merge(const KillLog& other) {
  for (const KillRecord& kill : other.kills_) Add(kill);
}

void KillLog::Expire(int64_t now_ms, int64_t hold_ms) {
  std::erase_if(kills_, [&](const KillRecord& kill) { return !Counts(kill, now_ms, hold_ms); });
}

double KillLog::Needed(int64_t now_ms, int64_t hold_ms) const {
  double needed = 0;
  for (const KillRecord& kill : kills_) {
    if (Counts(kill, now_ms, hold_ms)) needed = std::max(needed, kill.needed);
  }
  return needed;
}

uint32_t KillLog::Count(int64_t now_ms, int64_t hold_ms) const {
  return static_cast<uint32_t>(std::ranges::count_if(
      kills_, [&](const KillRecord& kill) { return Counts(kill, now_ms, hold_ms); }));
}

void KillLog::Save(ByteWriter& out) const {
  out.Varint(kills_.size());
  for (const KillRecord& kill : kills_) {
    out.Signed(kill.time_ms);
    out.Bool(kill.request.has_value());
    if (kill.request) out.Double(*kill.request);
    out.Double(kill.needed);
  }
}

Result<KillLog> KillLog::Restore(ByteReader& in) {
  KillLog log;
  const uint64_t count = in.Varint();
  const auto fail = [] {
    return Fail(ErrorCode::kInvalidArgument,
                "saved kills: they are cut or damaged, must be at most 16, newest first, with "
                "finite amounts of 0 or more");
  };
  if (in.failed() || count > kMost) return fail();
  for (uint64_t i = 0; i < count; ++i) {
    KillRecord kill;
    kill.time_ms = in.Signed();
    if (in.Bool()) kill.request = in.Double();
    kill.needed = in.Double();
    const auto bad = [](double amount) { return !std::isfinite(amount) || amount < 0; };
    if (in.failed() || bad(kill.needed) || bad(kill.request.value_or(0)) ||
        (!log.kills_.empty() && kill.time_ms > log.kills_.back().time_ms)) {
      return fail();
    }
    log.kills_.push_back(kill);
  }
  return log;
}

}  // namespace tidemark::engine
