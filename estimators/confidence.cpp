#include "estimators/confidence.h"

#include <algorithm>
#include <cassert>
#include <ratio>

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
