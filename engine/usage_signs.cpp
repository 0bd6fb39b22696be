#include "engine/usage_signs.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tidemark::engine {
namespace {

constexpr double kHalfLifeMs = 12.0 * 3600 * 1000;
/// Far more minutes than there are in a few half-lives, of as many pods as there may be.
constexpr double kMostWeight = 1e12;

}  // namespace

void UsageSigns::LeaveOut(int64_t time_ms, double usage) {
  if (left_out_ < UINT32_MAX) ++left_out_;
  if (usage < peak_ && time_ms - peak_ms_ <= kStartUpPeakMs) return;
  peak_ = usage;
  peak_ms_ = time_ms;
}

std::optional<double> UsageSigns::StartUpPeak(int64_t now_ms) const {
  if (left_out_ == 0 || now_ms - peak_ms_ > kStartUpPeakMs) return std::nullopt;
  return peak_;
}

/// Moves the weights on to `time_ms`, where that is later.
void UsageSigns::Decay(int64_t time_ms) {
  if (time_ms <= counted_ms_) return;
  const double factor = std::exp2(-static_cast<double>(time_ms - counted_ms_) / kHalfLifeMs);
  counted_ *= factor;
  throttled_ *= factor;
  counted_ms_ = time_ms;
}

void UsageSigns::Count(int64_t time_ms, bool throttled) {
  Decay(time_ms);
  counted_ = std::min(counted_ + 1, kMostWeight);
  if (throttled) throttled_ = std::min(throttled_ + 1, counted_);
}

double UsageSigns::ThrottledRatio(int64_t now_ms) const {
  // A day without any such minute is as good as none.
  if (!(throttled_ > 0) || now_ms - counted_ms_ > 24LL * 3600 * 1000) return 0;
  return std::min(1.0, throttled_ / counted_);
}

void UsageSigns::Merge(const UsageSigns& other) {
  UsageSigns theirs = other;
  Decay(theirs.counted_ms_);
  theirs.Decay(counted_ms_);
  counted_ = std::min(counted_ + theirs.counted_, kMostWeight);
  throttled_ = std::min(throttled_ + theirs.throttled_, counted_);
  if (theirs.left_out_ > 0 && (left_out_ == 0 || theirs.peak_ > peak_)) {
    peak_ = theirs.peak_;
    peak_ms_ = theirs.peak_ms_;
  }
  left_out_ =
      static_cast<uint32_t>(std::min<uint64_t>(uint64_t{left_out_} + theirs.left_out_, UINT32_MAX));
}

void UsageSigns::Save(ByteWriter& out) const {
  out.Double(peak_);
  out.Signed(peak_ms_);
  out.Varint(left_out_);
  out.Signed(counted_ms_);
  out.Double(counted_);
  out.Double(throttled_);
}

Result<UsageSigns> UsageSigns::Restore(ByteReader& in) {
  UsageSigns signs;
  signs.peak_ = in.Double();
  signs.peak_ms_ = in.Signed();
  const uint64_t left_out = in.Varint();
  signs.left_out_ = static_cast<uint32_t>(left_out);
  signs.counted_ms_ = in.Signed();
  signs.counted_ = in.Double();
  signs.throttled_ = in.Double();
  // Times that are far from any other make differences that do not fit.
  constexpr int64_t kFar = INT64_MAX / 4;
  const auto is_time = [](int64_t time_ms) { return time_ms > -kFar && time_ms < kFar; };
  const bool good = std::isfinite(signs.peak_) && signs.peak_ >= 0 && left_out <= UINT32_MAX &&
                    is_time(signs.peak_ms_) && is_time(signs.counted_ms_) && signs.counted_ >= 0 &&
                    signs.counted_ <= kMostWeight && signs.throttled_ >= 0 &&
                    signs.throttled_ <= signs.counted_;
  if (in.failed() || !good) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved signs of usage: they are cut, or amounts or times in them cannot be");
  }
  return signs;
}

}  // namespace tidemark::engine
