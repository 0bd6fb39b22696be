#include "estimators/confidence.h"

#include <algorithm>
#include <cassert>
#include <ratio>

#include "estimators/time_codec.h"

namespace tidemark::estimators {

void SampleSpan::Record(Time time) {
  first_ = count_ == 0 ? time : std::min(first_, time);
  last_ = count_ == 0 ? time : std::max(last_, time);
  ++count_;
}

void SampleSpan::Merge(const SampleSpan& other) {
  if (other.count_ == 0) return;
  first_ = count_ == 0 ? other.first_ : std::min(first_, other.first_);
  last_ = count_ == 0 ? other.last_ : std::max(last_, other.last_);
  count_ += other.count_;
}

void SampleSpan::Save(ByteWriter& out) const {
  out.Varint(count_);
  if (count_ == 0) return;
  SaveTime(out, last_);
  SaveDuration(out, SaturatingDifference(last_, first_));
}

Result<SampleSpan> SampleSpan::Restore(ByteReader& in) {
  SampleSpan span;
  span.count_ = in.Varint();
  if (span.count_ > 0) {
    span.last_ = RestoreTime(in);
    const std::chrono::nanoseconds covered = RestoreDuration(in);
    int64_t first = 0;
    if (covered < covered.zero() ||
        __builtin_sub_overflow(span.last_.time_since_epoch().count(), covered.count(), &first)) {
      in.Fail();
    }
    span.first_ = Time(std::chrono::nanoseconds(first));
  }
  if (in.failed()) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved span of samples: it is cut or damaged, must be a number and, unless that is "
                "0, the times of the last and the first");
  }
  return span;
}

double Confidence(const SampleSpan& span, std::chrono::nanoseconds interval) {
  assert(interval > std::chrono::nanoseconds::zero());
  if (span.Count() == 0) return 0;
  const std::chrono::nanoseconds covered = SaturatingDifference(*span.Last(), *span.First());
  const double intervals =
      static_cast<double>(covered.count()) / static_cast<double>(interval.count());
  const std::chrono::duration<double, std::ratio<60>> minutes = interval;
  return std::min(intervals, static_cast<double>(span.Count()) / minutes.count());
}

}  // namespace tidemark::estimators
