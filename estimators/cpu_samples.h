#pragma once
// The CPU samples of one container on their way into a histogram, which its replicas share.
//
// The rule is the one of the Kubernetes VPA (1.8, recommender): a sample counts when its usage is
// not negative and its time strictly after the one before. Every sample weighs the same; the weight
// by request of older versions was never in effect (removed in VPA 1.4).

#include "estimators/confidence.h"
#include "estimators/decaying_histogram.h"
#include "estimators/event_time.h"

namespace tidemark::estimators {

/// A value type, not thread-safe.
class CpuSamples {
 public:
  static constexpr double kWeight = 0.1;

  /// Adds one sample to `histogram`: `cores` used, at `time`. False, and nothing changed, when the
  /// usage is negative, NaN or infinite, the time is not after the last accepted one, or the weight
  /// is none (DecayingHistogram::Add).
  bool AddSample(DecayingHistogram& histogram, Time time, double cores, double weight = kWeight);

  /// First, last and number of the accepted samples.
  const SampleSpan& span() const { return span_; }

 private:
  SampleSpan span_;
};

}  // namespace tidemark::estimators
