#pragma once
// What the hours of the last week say of one resource of one container of a workload, where the
// profile's basis is adaptive.
//
// Resources that are throttled when they run short (every minute counts) and those that are not
// (peaks count) are asked by different estimators; which of them is here goes by the samples' kind.

#include <cstdint>
#include <memory>
#include <optional>

#include "estimators/adaptive_request.h"
#include "estimators/decaying_histogram.h"
#include "estimators/event_time.h"
#include "estimators/peak_request.h"
#include "model/byte_codec.h"
#include "model/profile.h"
#include "model/result.h"

namespace tidemark::engine {

estimators::AdaptiveRequestOptions AdaptiveOptionsOf(const ResourceRule& rule);
estimators::PeakRequestOptions PeakOptionsOf(const ResourceRule& rule);

/// Not thread-safe.
class HoursTrack {
 public:
  HoursTrack() = default;
  HoursTrack(const HoursTrack& other);
  HoursTrack& operator=(const HoursTrack& other) = delete;
  HoursTrack(HoursTrack&&) = default;
  HoursTrack& operator=(HoursTrack&&) = default;
  ~HoursTrack() = default;

  /// One minute of one pod, from its start on, of this kind of samples.
  void Add(SampleKind kind, estimators::Time start, double usage, const ResourceRule& rule);

  /// Time has come to here: the hour before is over, though no sample of the next says so yet.
  void Close(estimators::Time time, const ResourceRule& rule);

  /// Whether a day of hours is known, before which their answer is that of a few.
  bool KnowsADay() const;
  bool IsEmpty() const { return adaptive_ == nullptr && peaks_ == nullptr; }

  /// Nullopt until there is an answer. `decayed`: a histogram of the same minutes.
  std::optional<double> Request(const ResourceRule& rule,
                                const estimators::DecayingHistogram& decayed) const;

  /// Null where the other one answers, or none.
  const estimators::AdaptiveRequest* adaptive() const { return adaptive_.get(); }
  const estimators::PeakRequest* peaks() const { return peaks_.get(); }

  void Merge(const HoursTrack& other, const ResourceRule& rule);
  /// Forgets everything.
  void Clear();
  size_t MemoryBytes() const;

  void Save(ByteWriter& out) const;
  /// kInvalidArgument when it is nothing that Save can have written.
  static Result<HoursTrack> Restore(ByteReader& in);

 private:
  std::unique_ptr<estimators::AdaptiveRequest> adaptive_;
  std::unique_ptr<estimators::PeakRequest> peaks_;
  std::optional<int32_t> first_hour_;
  int32_t last_hour_ = 0;  // counts only with first_hour_
};

}  // namespace tidemark::engine
