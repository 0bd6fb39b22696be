// A container's usage as bytes: what its parts' leading series tell anyhow is not written again.
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "workloads/saved_text.h"
#include "workloads/usage.h"

namespace tidemark::workloads {
namespace {

// Bits of a part.
constexpr uint8_t kHasLeader = 0x01;
constexpr uint8_t kEnded = 0x02;
constexpr uint8_t kAsLeader = 0x04;  // its last sample is that of the leading series
constexpr uint8_t kOneCore = 0x08;   // of a part without a leader
constexpr uint8_t kHasRun = 0x10;    // likewise
constexpr uint8_t kPartBits = 0x1F;

int64_t MinuteOf(int64_t time_ms) { return time_ms - time_ms % kMinuteMs; }

}  // namespace

void ContainerUsage::Save(ByteWriter& out, int64_t base_ms, const LeaderOf& leader_of) const {
  out.Byte(static_cast<uint8_t>(kind_));
  SaveMs(out, closed_until_ms_, base_ms);
  SaveMs(out, last_ms_, base_ms);
  out.Varint(parts_.size());
  for (const Part& part : parts_) {
    const Leader* const leader = part.leader == kNoSeries ? nullptr : leader_of(part.leader);
    const bool as_leader =
        leader != nullptr && leader->last_ms == part.last_ms &&
        std::bit_cast<uint64_t>(leader->last_value) == std::bit_cast<uint64_t>(part.last_value);
    uint8_t bits = part.ended ? kEnded : 0;
    if (leader != nullptr) {
      bits |= kHasLeader | (as_leader ? kAsLeader : 0);
    } else {
      bits |= (part.key.is_one_core ? kOneCore : 0) | (part.key.run != 0 ? kHasRun : 0);
    }
    out.Byte(bits);
    if (leader != nullptr) {
      out.Varint(part.leader);
    } else {
      out.Fixed64(part.key.hash);
      if (part.key.run != 0) out.Fixed64(part.key.run);
    }
    if (!as_leader) {
      SaveMs(out, part.last_ms, base_ms);
      out.Double(part.last_value);
    }
    out.Varint(static_cast<uint64_t>(part.interval_ms));
    out.Varint(part.open.size());
    for (const OpenMinute& minute : part.open) {
      out.Varint(static_cast<uint64_t>((MinuteOf(part.last_ms) - minute.start_ms) / kMinuteMs));
      out.Varint(static_cast<uint64_t>(minute.begin_ms));
      out.Varint(static_cast<uint64_t>(minute.end_ms));
      out.Double(minute.amount);
    }
  }
}

bool ContainerUsage::RestorePart(ByteReader& in, int64_t base_ms, const LeaderOf& leader_of,
                                 Part& part) const {
  const uint8_t bits = in.Byte();
  if ((bits & ~kPartBits) != 0) return false;
  part.ended = (bits & kEnded) != 0;
  if ((bits & kHasLeader) != 0) {
    const uint64_t series = in.Varint();
    const Leader* const leader =
        in.failed() || series >= kNoSeries ? nullptr : leader_of(static_cast<uint32_t>(series));
    if (leader == nullptr) return false;
    part.leader = static_cast<uint32_t>(series);
    part.key = leader->key;
    part.last_ms = leader->last_ms;
    part.last_value = leader->last_value;
  } else {
    part.key.hash = in.Fixed64();
    if ((bits & kHasRun) != 0) part.key.run = in.Fixed64();
    part.key.is_one_core = (bits & kOneCore) != 0;
  }
  if ((bits & kHasLeader) == 0 || (bits & kAsLeader) == 0) {
    part.last_ms = RestoreTakenMs(in, base_ms);
    part.last_value = in.Double();
  }
  const uint64_t interval_ms = in.Varint();
  if (interval_ms == 0 || interval_ms > kMaxGapMs || part.last_ms > last_ms_) return false;
  part.interval_ms = static_cast<int64_t>(interval_ms);
  constexpr size_t kLeastMinute = 3 + sizeof(double);
  const uint64_t open = in.Count(kLeastMinute);
  part.open.reserve(open);
  for (uint64_t i = 0; i < open; ++i) {
    const uint64_t minutes_before = in.Varint();
    const uint64_t begin = in.Varint();
    const uint64_t end = in.Varint();
    const double amount = in.Double();
    if (minutes_before > static_cast<uint64_t>(part.last_ms / kMinuteMs) || begin > end ||
        end > kMinuteMs) {
      return false;
    }
    const int64_t start_ms =
        MinuteOf(part.last_ms) - static_cast<int64_t>(minutes_before) * kMinuteMs;
    if (start_ms < closed_until_ms_) return false;
    if (!part.open.empty() && start_ms <= part.open.back().start_ms) return false;
    part.open.push_back({start_ms, amount, static_cast<int32_t>(begin), static_cast<int32_t>(end)});
  }
  return !in.failed();
}

std::unique_ptr<ContainerUsage> ContainerUsage::Restore(ByteReader& in, int64_t base_ms,
                                                        const LeaderOf& leader_of) {
  const uint8_t kind = in.Byte();
  if (kind > static_cast<uint8_t>(Kind::kLevel)) in.Fail();
  auto usage = std::make_unique<ContainerUsage>(static_cast<Kind>(kind));
  usage->closed_until_ms_ = RestoreMs(in, base_ms);
  usage->last_ms_ = RestoreMs(in, base_ms);
  constexpr size_t kLeastPart = 4;
  const uint64_t parts = in.Count(kLeastPart);
  usage->parts_.reserve(parts);
  for (uint64_t i = 0; i < parts; ++i) {
    Part& part = usage->parts_.emplace_back();
    if (!usage->RestorePart(in, base_ms, leader_of, part)) in.Fail();
    if (in.failed()) return nullptr;
  }
  if (in.failed()) return nullptr;
  if (parts > 1) {
    std::vector<std::tuple<uint64_t, uint64_t, bool>> keys;
    keys.reserve(parts);
    for (const Part& part : usage->parts_) {
      keys.emplace_back(part.key.hash, part.key.run, part.key.is_one_core);
    }
    std::sort(keys.begin(), keys.end());
    if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) {
      in.Fail();
      return nullptr;
    }
  }
  return usage;
}

}  // namespace tidemark::workloads
