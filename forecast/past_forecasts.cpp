#include "forecast/past_forecasts.h"

#include <algorithm>

#include "forecast/packed_amount.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kMostMinute = int64_t{1} << 40;  // beyond every time there is

size_t SlotOf(int64_t minute) { return static_cast<size_t>(minute % PastForecasts::kMinutes); }

}  // namespace

void PastForecasts::Put(int64_t minute, float demand, float lower, float upper) {
  if (minute <= newest_) return;
  ring_.resize(static_cast<size_t>(kMinutes));
  for (int64_t skipped = std::max(newest_, minute - kMinutes) + 1; skipped < minute; ++skipped) {
    ring_[SlotOf(skipped)] = {};
  }
  ring_[SlotOf(minute)] = {PackAmount(demand), PackAmount(lower), PackAmount(upper)};
  newest_ = minute;
}

std::vector<ForecastPoint> PastForecasts::Points() const {
  std::vector<ForecastPoint> points;
  if (ring_.empty()) return points;
  for (int64_t minute = std::max<int64_t>(0, newest_ - kMinutes + 1); minute <= newest_; ++minute) {
    const Packed& packed = ring_[SlotOf(minute)];
    if (packed.demand == kNone) continue;
    points.push_back({.time_ms = minute * 60'000,
                      .demand = UnpackAmount(packed.demand),
                      .lower = UnpackAmount(packed.lower),
                      .upper = UnpackAmount(packed.upper)});
  }
  return points;
}

void PastForecasts::Save(ByteWriter& out) const {
  out.Bool(!ring_.empty());
  if (ring_.empty()) return;
  out.Varint(static_cast<uint64_t>(newest_));
  for (const Packed& packed : ring_) {
    out.Varint(packed.demand);
    if (packed.demand == kNone) continue;
    out.Signed(int64_t{packed.demand} - packed.lower);
    out.Signed(int64_t{packed.upper} - packed.demand);
  }
}

void PastForecasts::Restore(ByteReader& in) {
  *this = PastForecasts();
  if (!in.Bool()) return;
  const uint64_t newest = in.Varint();
  if (newest > static_cast<uint64_t>(kMostMinute)) in.Fail();
  std::vector<Packed> ring(static_cast<size_t>(kMinutes));
  for (Packed& packed : ring) {
    const uint64_t demand = in.Varint();
    if (in.failed() || demand > kNone) return in.Fail();
    if (demand == kNone) continue;
    const int64_t under = in.Signed();
    const int64_t over = in.Signed();
    const auto fits = [demand](int64_t distance) {
      const int64_t amount = static_cast<int64_t>(demand) + distance;
      return amount >= 0 && amount < kNone && IsPackedAmount(static_cast<uint16_t>(amount));
    };
    constexpr int64_t kFar = kNone;
    if (in.failed() || std::min(under, over) < -kFar || std::max(under, over) > kFar || !fits(0) ||
        !fits(-under) || !fits(over)) {
      return in.Fail();
    }
    const int64_t lower = static_cast<int64_t>(demand) - under;
    const int64_t upper = static_cast<int64_t>(demand) + over;
    packed = {static_cast<uint16_t>(demand), static_cast<uint16_t>(lower),
              static_cast<uint16_t>(upper)};
  }
  newest_ = static_cast<int64_t>(newest);
  ring_ = std::move(ring);
}

}  // namespace tidemark::forecast
