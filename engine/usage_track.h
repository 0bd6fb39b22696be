#pragma once
// What is known of one resource of one container of a workload: its decayed histogram, and what the
// rule of its profile says of how samples go into it.
//
// When the rule changes, what was learnt goes on as far as it can: a new half-life decays it from
// now on, new buckets take it over at their upper edges. Where the samples themselves become others
// (another kind, weight rule, or strictness) the track starts fresh, and what was there before
// answers until the new has kFreshAfter of samples.
//
// VPA keeps samples of pods apart by their labels and merges them when it is asked; a strict track
// does the same, so that the same sums come out.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/hours_track.h"
#include "engine/layout_pool.h"
#include "estimators/confidence.h"
#include "estimators/decaying_histogram.h"
#include "estimators/event_time.h"
#include "estimators/high_water.h"
#include "model/byte_codec.h"
#include "model/profile.h"
#include "model/result.h"

namespace tidemark::engine {

/// Samples and the histogram they went into.
struct History {
  estimators::DecayingHistogram histogram;
  estimators::SampleSpan minutes;
};

/// What samples are made by: of different kinds they cannot go into one histogram.
struct SamplingKind {
  SampleKind samples = SampleKind::kEveryMinute;
  WeightRule weight = WeightRule::kConstant;
  bool strict = false;

  /// `is_job`: of a Job or CronJob, whose runs may count by their peaks.
  static SamplingKind Of(const Profile& profile, Resource resource, bool is_job);

  friend bool operator==(const SamplingKind&, const SamplingKind&) = default;
};

/// How the tails of the rule's high-water marks are fitted.
estimators::FitChoice FitChoiceOf(TailMethod method);

/// Not thread-safe. The pool must outlive it.
class UsageTrack {
 public:
  /// How long the samples of a fresh track must span before it answers.
  static constexpr auto kFreshAfter = std::chrono::hours(24);

  UsageTrack(const Profile& profile, Resource resource, SamplingKind kind, LayoutPool& layouts);

  /// The profile has become this one, or the samples are made in this way from now on.
  void Adapt(const Profile& profile, Resource resource, SamplingKind kind, LayoutPool& layouts);

  /// A minute of any pod, for what the hours say; nothing where the rule does not ask for it.
  void CountHour(estimators::Time start, double usage, const ResourceRule& rule);
  void CloseHour(estimators::Time time, const ResourceRule& rule) { hours_.Close(time, rule); }
  const HoursTrack& hours() const { return hours_; }

  /// Where samples of a pod with these labels go.
  History& For(uint64_t labels);
  /// A minute of any pod counts for the high-water marks too. They are of minutes by whatever rule
  /// these go into the histogram, and go on when that changes.
  void CountHighWater(int64_t start_ms, double usage, const ResourceRule& rule);
  const estimators::HighWaterTrack& high_water() const { return high_water_; }
  /// The histogram of those minutes, as they are; null where it holds something else, or several
  /// hold them.
  const estimators::DecayingHistogram* MinutesHistogram() const;

  /// A sample has gone in: ends the time of the earlier track when this one is old enough.
  void HasGrown();

  /// What answers: one history, or the merged copy of several.
  struct Reading {
    estimators::SampleSpan minutes;
    bool is_earlier = false;                   ///< of the rule before
    const HoursTrack* hours = nullptr;         ///< of the present rule; null: it asks for none
    std::shared_ptr<HoursTrack> merged_hours;  ///< what `hours` points to, of several
    const estimators::DecayingHistogram* one = nullptr;
    std::optional<estimators::DecayingHistogram> merged;

    const estimators::DecayingHistogram& histogram() const { return merged ? *merged : *one; }
  };
  /// Valid until the next change.
  Reading Read() const;

  /// Takes over what another track learnt that is adapted to the same profile; of another kind of
  /// samples only when nothing is here. kInvalidArgument and nothing changed when it cannot be
  /// added up.
  Result<void> Merge(UsageTrack& from, const ResourceRule& rule);
  /// Whether Merge would.
  Result<void> CanMerge(const UsageTrack& from) const;

  /// VPA's restart: everything becomes what its checkpoint keeps of it.
  void GoThroughCheckpoint();

  /// Drops the histories by labels whose last sample is older than `before` (VPA's garbage
  /// collection of aggregates).
  void Collect(estimators::Time before);

  /// Whether samples of the present rule span so long.
  bool Spans(std::chrono::nanoseconds time) const;

  const SamplingKind& kind() const { return kind_; }
  const History& own() const { return own_; }
  size_t MemoryBytes() const;

  void Save(ByteWriter& out) const;
  static Result<UsageTrack> Restore(ByteReader& in, LayoutPool& layouts);
  /// A track as the first format kept it: VPA's layouts, constant weights.
  static Result<UsageTrack> RestoreFirstFormat(ByteReader& in, Resource resource,
                                               LayoutPool& layouts);

 private:
  UsageTrack(SamplingKind kind, BucketLayout layout, History own);
  static Result<UsageTrack> Restore(ByteReader& in, LayoutPool& layouts, uint8_t allowed);
  bool IsAlike(const UsageTrack& other) const;
  History Empty() const;
  bool IsEmpty() const;
  void MakeEarlier();
  void FoldOldest();

  SamplingKind kind_;
  BucketLayout layout_;
  std::optional<BucketLayout> layout_before_;  // since the start
  History own_;                                // strict: what a checkpoint brought
  std::vector<std::pair<uint64_t, std::unique_ptr<History>>> by_labels_;  // strict, sorted
  std::unique_ptr<UsageTrack> earlier_;  // its hours and marks are here
  HoursTrack hours_;
  estimators::HighWaterTrack high_water_;
};

}  // namespace tidemark::engine
