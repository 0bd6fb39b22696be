#pragma once
// How much is behind an estimate: the span of time its samples cover, and how many days' worth they
// are.

#include <chrono>
#include <cstdint>
#include <optional>

#include "estimators/event_time.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

/// First, last and number of the samples of one container, or of all containers that share a
/// histogram. A value type, not thread-safe.
class SampleSpan {
 public:
  /// Counts one sample. Times may come in any order.
  void Record(Time time);
  /// Counts the samples of `other` too.
  void Merge(const SampleSpan& other);

  void Save(ByteWriter& out) const;
  /// kInvalidArgument when it is nothing that Save can have written.
  static Result<SampleSpan> Restore(ByteReader& in);

  /// Absent without samples.
  std::optional<Time> First() const { return count_ == 0 ? std::nullopt : std::optional(first_); }
  std::optional<Time> Last() const { return count_ == 0 ? std::nullopt : std::optional(last_); }
  uint64_t Count() const { return count_; }

 private:
  Time first_{};
  Time last_{};
  uint64_t count_ = 0;
};

/// The confidence of the Kubernetes VPA (1.8, recommender): the smaller of the time from the first
/// to the last sample and the number of samples at one a minute, both in units of `interval`; with
/// the default, days of samples. 0 without samples and for a single one. `interval` must be above
/// zero.
double Confidence(const SampleSpan& span,
                  std::chrono::nanoseconds interval = std::chrono::hours(24));

}  // namespace tidemark::estimators
