// A HighWaterTrack as it outlives the process, with the tail as it was fitted last: marks are the
// same after a restart, and not fitted anew for all containers at once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "estimators/excess_code.h"
#include "estimators/high_water.h"

namespace tidemark::estimators {
namespace {

constexpr uint8_t kNoTail = 0;
constexpr uint8_t kTailWithoutFit = 1;
constexpr uint8_t kTailWithFit = 2;

void SaveTail(const TailFit& tail, ByteWriter& out) {
  out.Byte(tail.IsFitted() ? kTailWithFit : kTailWithoutFit);
  out.Double(tail.threshold);
  out.Double(tail.largest);
  out.Varint(tail.observations);
  out.Varint(tail.excesses);
  out.Varint(tail.clusters);
  if (tail.IsFitted()) {
    out.Byte(static_cast<uint8_t>(tail.method));
    out.Double(tail.fit.gamma);
    out.Double(tail.fit.sigma);
  } else {
    out.Byte(static_cast<uint8_t>(tail.unfitted));
  }
}

/// Fails the reader when it is nothing that SaveTail can have written.
TailFit RestoreTail(ByteReader& in, bool fitted) {
  TailFit tail;
  tail.threshold = in.Double();
  tail.largest = in.Double();
  tail.observations = in.Varint();
  const uint64_t excesses = in.Varint();
  const uint64_t clusters = in.Varint();
  const uint8_t kind = in.Byte();
  tail.excesses = static_cast<uint32_t>(excesses);
  tail.clusters = static_cast<uint32_t>(clusters);
  const auto is_amount = [](double value) { return std::isfinite(value) && value >= 0; };
  bool good = is_amount(tail.threshold) && is_amount(tail.largest) && clusters <= excesses &&
              excesses <= ExcessWindow::kDays * ExcessWindow::kPerDay &&
              excesses <= tail.observations;
  if (fitted) {
    tail.unfitted = Unfitted::kFitted;
    good = good && kind <= static_cast<uint8_t>(FitMethod::kMaximumLikelihood) && excesses > 0;
    tail.method = static_cast<FitMethod>(kind);
    tail.fit.gamma = in.Double();
    tail.fit.sigma = in.Double();
    good = good && std::isfinite(tail.fit.gamma) && std::isfinite(tail.fit.sigma) &&
           tail.fit.sigma > 0;
  } else {
    good = good && kind > static_cast<uint8_t>(Unfitted::kFitted) &&
           kind <= static_cast<uint8_t>(Unfitted::kEndBelowLargest);
    tail.unfitted = static_cast<Unfitted>(kind);
  }
  if (!good) in.Fail();
  return tail;
}

}  // namespace

void HighWaterTrack::Save(ByteWriter& out) const {
  window_.Save(out);
  out.Fixed32(std::bit_cast<uint32_t>(gate_));
  out.Varint(next_refit_);
  out.Byte(phase_);
  if (tail_) {
    SaveTail(*tail_, out);
  } else {
    out.Byte(kNoTail);
  }
}

Result<HighWaterTrack> HighWaterTrack::Restore(ByteReader& in) {
  auto window = ExcessWindow::Restore(in);
  if (!window) return tl::unexpected(std::move(window.error()));
  HighWaterTrack track;
  track.window_ = std::move(*window);
  track.gate_ = std::bit_cast<float>(in.Fixed32());
  const uint64_t next = in.Varint();
  track.phase_ = in.Byte();
  const uint8_t has = in.Byte();
  if (has > kTailWithFit) in.Fail();
  if (has != kNoTail) track.tail_ = RestoreTail(in, has == kTailWithFit);
  if (in.failed() || !(track.gate_ >= 0 && std::isfinite(track.gate_)) ||
      next > uint64_t{kLastMinute} + kRefitMinutes || track.phase_ >= kRefitMinutes) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved high-water mark: it is cut or damaged, must be a threshold of 0 or more, a "
                "minute of the hour and a tail that can be");
  }
  track.next_refit_ = static_cast<uint32_t>(next);
  return track;
}

}  // namespace tidemark::estimators
