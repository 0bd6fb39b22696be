#include "engine/usage_track.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tidemark::engine {
namespace {

using estimators::DecayingHistogram;
using estimators::Precision;

constexpr int kFirstFormat = 1;
constexpr int kFormat = 2;
// The first byte of a saved track.
constexpr uint8_t kPeaksBit = 1;
constexpr uint8_t kByRequestBit = 2;
constexpr uint8_t kStrictBit = 4;
constexpr uint8_t kKindBits = kPeaksBit | kByRequestBit | kStrictBit;
constexpr uint8_t kEarlierBit = 8;
constexpr uint8_t kHoursBit = 32;
constexpr uint8_t kHighWaterBit = 16;

constexpr int kMaxBuckets = 1000;
/// Far more than a workload has that is not given a new label set with each scrape.
constexpr size_t kMaxLabelSets = 500;
constexpr BucketLayout kFirstCores{.first = 0.01, .ratio = 1.05, .max = 1000};
constexpr BucketLayout kFirstBytes{.first = 1e7, .ratio = 1.05, .max = 1e12};

std::chrono::nanoseconds HalfLifeOf(const ResourceRule& rule) {
  return std::chrono::milliseconds(rule.half_life_ms);
}

/// VPA's numbers need VPA's precision.
Precision PrecisionOf(const SamplingKind& kind) {
  return kind.strict ? Precision::kExact : Precision::kCompact;
}

estimators::Time NewestOf(const History& history) {
  return history.minutes.Last().value_or(
      history.histogram.ReferenceTime().value_or(estimators::Time{}));
}

bool IsEmptyHistory(const History& history) {
  return history.minutes.Count() == 0 && history.histogram.TotalWeight() == 0;
}

tl::unexpected<Error> Refuse(const std::string& what) {
  return Fail(ErrorCode::kInvalidArgument, "saved history: " + what);
}

void SaveHistory(const History& history, ByteWriter& out) {
  history.histogram.Save(out);
  history.minutes.Save(out);
}

Result<History> RestoreHistory(ByteReader& in, const estimators::HistogramOptions* layout,
                               int format) {
  auto histogram = DecayingHistogram::Restore(layout, in, format);
  if (!histogram) return tl::unexpected(std::move(histogram.error()));
  auto minutes = estimators::SampleSpan::Restore(in);
  if (!minutes) return tl::unexpected(std::move(minutes.error()));
  return History{std::move(*histogram), *minutes};
}

/// All or nothing.
Result<void> MergeHistory(History& into, History& from) {
  if (auto merged = into.histogram.Merge(from.histogram); !merged) return merged;
  into.minutes.Merge(from.minutes);
  return {};
}

}  // namespace

SamplingKind SamplingKind::Of(const Profile& profile, Resource resource, bool is_job) {
  const ResourceRule& rule = profile.rule(resource);
  const bool by_run = is_job && rule.peak_per_run;
  return {.samples = by_run ? SampleKind::kPeakPerWindow : rule.samples,
          .weight = rule.weight,
          .strict = profile.strict};
}

estimators::FitChoice FitChoiceOf(TailMethod method) {
  switch (method) {
    case TailMethod::kAuto: break;
    case TailMethod::kMoments: return estimators::FitChoice::kMoments;
    case TailMethod::kPwm: return estimators::FitChoice::kWeightedMoments;
    case TailMethod::kMle: return estimators::FitChoice::kMaximumLikelihood;
  }
  return estimators::FitChoice::kAuto;
}

UsageTrack::UsageTrack(SamplingKind kind, BucketLayout layout, History own)
    : kind_(kind), layout_(layout), own_(std::move(own)) {}

UsageTrack::UsageTrack(const Profile& profile, Resource resource, SamplingKind kind,
                       LayoutPool& layouts)
    : UsageTrack(kind, profile.rule(resource).buckets,
                 {DecayingHistogram(layouts.Of(profile.rule(resource).buckets),
                                    HalfLifeOf(profile.rule(resource)), PrecisionOf(kind)),
                  {}}) {}

History UsageTrack::Empty() const {
  return {
      DecayingHistogram(&own_.histogram.options(), own_.histogram.half_life(), PrecisionOf(kind_)),
      {}};
}

bool UsageTrack::IsEmpty() const {
  return IsEmptyHistory(own_) && std::ranges::all_of(by_labels_, [](const auto& entry) {
           return IsEmptyHistory(*entry.second);
         });
}

/// What is here becomes what was before. If something older still answers, that goes on: this was
/// too young to.
void UsageTrack::MakeEarlier() {
  if (earlier_ == nullptr && !IsEmpty()) {
    std::unique_ptr<UsageTrack> before(new UsageTrack(kind_, layout_, std::move(own_)));
    before->by_labels_ = std::move(by_labels_);
    earlier_ = std::move(before);
  }
  by_labels_.clear();
}

void UsageTrack::CountHour(estimators::Time start, double usage, const ResourceRule& rule) {
  if (rule.basis == Basis::kAdaptive) hours_.Add(rule.samples, start, usage, rule);
}

void UsageTrack::Adapt(const Profile& profile, Resource resource, SamplingKind kind,
                       LayoutPool& layouts) {
  const ResourceRule& rule = profile.rule(resource);
  if (rule.basis != Basis::kAdaptive) hours_.Clear();
  if (kind != kind_ && earlier_ != nullptr && earlier_->kind_ == kind) {
    // Back to the rule before, whose history stands: what came meanwhile was of another kind.
    auto before = std::move(earlier_);
    kind_ = before->kind_;
    layout_ = before->layout_;
    own_ = std::move(before->own_);
    by_labels_ = std::move(before->by_labels_);
  } else if (kind != kind_) {
    MakeEarlier();
    kind_ = kind;
    layout_ = rule.buckets;
    own_ = {DecayingHistogram(layouts.Of(rule.buckets), HalfLifeOf(rule), PrecisionOf(kind)), {}};
    return;
  }
  const estimators::HistogramOptions* const layout = layouts.Of(rule.buckets);
  // To the coarser of two layouts up, back to the finer one down: then it ends where it was before,
  // however often a configuration goes to and fro.
  const auto fineness = [](const BucketLayout& of) { return std::pair(of.ratio, of.first); };
  const bool back = layout_before_ == rule.buckets && fineness(rule.buckets) < fineness(layout_);
  const auto way = back ? DecayingHistogram::Rebinning::kBack : DecayingHistogram::Rebinning::kUp;
  const auto adapt = [&](History& history) {
    // Weights near the end of what a double holds are the only reason to refuse; the histogram then
    // goes on with the half-life it has.
    static_cast<void>(history.histogram.ChangeHalfLife(HalfLifeOf(rule), NewestOf(history)));
    if (!(rule.buckets == layout_)) history.histogram.Rebin(layout, way);
  };
  adapt(own_);
  for (auto& [labels, history] : by_labels_) adapt(*history);
  if (!(rule.buckets == layout_)) layout_before_ = std::exchange(layout_, rule.buckets);
}

History& UsageTrack::For(uint64_t labels) {
  if (!kind_.strict) return own_;
  const auto place = std::ranges::lower_bound(by_labels_, labels, {},
                                              [](const auto& entry) { return entry.first; });
  if (place != by_labels_.end() && place->first == labels) return *place->second;
  if (by_labels_.size() >= kMaxLabelSets) {
    FoldOldest();
    return For(labels);
  }
  return *by_labels_.emplace(place, labels, std::make_unique<History>(Empty()))->second;
}

/// Makes room for another label set: the one of which nothing has come for longest goes where what
/// a checkpoint brings is. VPA keeps them all, without end (kubernetes/autoscaler #6368); its
/// recommendation, which adds them up, stays the same.
void UsageTrack::FoldOldest() {
  const auto oldest = std::ranges::min_element(
      by_labels_, {}, [](const auto& entry) { return NewestOf(*entry.second); });
  static_cast<void>(MergeHistory(own_, *oldest->second));
  by_labels_.erase(oldest);
}

void UsageTrack::CountHighWater(int64_t start_ms, double usage, const ResourceRule& rule) {
  constexpr int64_t kMinuteMs = 60'000;
  high_water_.Add(start_ms / kMinuteMs, usage, MinutesHistogram(),
                  FitChoiceOf(rule.high_water.method));
}

const DecayingHistogram* UsageTrack::MinutesHistogram() const {
  const bool of_minutes = kind_.samples == SampleKind::kEveryMinute && !kind_.strict;
  return of_minutes && !own_.histogram.IsEmpty() ? &own_.histogram : nullptr;
}

bool UsageTrack::Spans(std::chrono::nanoseconds time) const {
  estimators::SampleSpan minutes = own_.minutes;
  for (const auto& [labels, history] : by_labels_) minutes.Merge(history->minutes);
  return minutes.Count() > 0 &&
         estimators::SaturatingDifference(*minutes.Last(), *minutes.First()) >= time;
}

void UsageTrack::HasGrown() {
  if (earlier_ != nullptr && Spans(kFreshAfter)) earlier_.reset();
}

UsageTrack::Reading UsageTrack::Read() const {
  if (earlier_ != nullptr) {
    Reading reading = earlier_->Read();
    reading.is_earlier = true;
    if (!hours_.IsEmpty()) reading.hours = &hours_;
    return reading;
  }
  Reading reading;
  if (!hours_.IsEmpty()) reading.hours = &hours_;
  if (by_labels_.empty()) {
    reading.one = &own_.histogram;
    reading.minutes = own_.minutes;
    return reading;
  }
  if (by_labels_.size() == 1 && IsEmptyHistory(own_)) {
    reading.one = &by_labels_.front().second->histogram;
    reading.minutes = by_labels_.front().second->minutes;
    return reading;
  }
  // Starts empty, as VPA's merge for a recommendation does.
  History merged = Empty();
  const auto add = [&merged](const History& history) {
    if (IsEmptyHistory(history)) return;
    History copy = history;
    static_cast<void>(MergeHistory(merged, copy));
  };
  for (const auto& [labels, history] : by_labels_) add(*history);
  add(own_);
  reading.minutes = merged.minutes;
  reading.merged = std::move(merged.histogram);
  return reading;
}

bool UsageTrack::IsAlike(const UsageTrack& other) const {
  return other.kind_ == kind_ && other.layout_ == layout_ &&
         other.own_.histogram.half_life() == own_.histogram.half_life();
}

Result<void> UsageTrack::CanMerge(const UsageTrack& from) const {
  if (!IsAlike(from)) {
    if (IsEmpty() && earlier_ == nullptr) return {};
    return Fail(ErrorCode::kInvalidArgument,
                "histories of different rules cannot be added up, allowed: those of one profile");
  }
  const double total = own_.histogram.TotalWeight() + from.own_.histogram.TotalWeight();
  if (total <= DecayingHistogram::kMaxTotalWeight) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "saved history: its weights are too large to be added to those that are there");
}

Result<void> UsageTrack::Merge(UsageTrack& from, const ResourceRule& rule) {
  if (auto good = CanMerge(from); !good) return good;
  hours_.Merge(from.hours_, rule);
  from.hours_.Clear();
  high_water_.Merge(from.high_water_);
  from.high_water_ = {};
  if (!IsAlike(from)) {
    earlier_ = std::make_unique<UsageTrack>(std::move(from));
    return {};
  }
  if (IsEmptyHistory(own_)) {
    own_ = std::move(from.own_);
  } else if (!IsEmptyHistory(from.own_)) {
    if (auto merged = MergeHistory(own_, from.own_); !merged) return merged;
  }
  for (auto& [labels, history] : from.by_labels_) {
    if (auto merged = MergeHistory(For(labels), *history); !merged) return merged;
  }
  if (earlier_ == nullptr) earlier_ = std::move(from.earlier_);
  HasGrown();
  return {};
}

void UsageTrack::GoThroughCheckpoint() {
  if (!kind_.strict) return;
  auto aside = std::move(earlier_);  // of another kind, and not VPA's
  const Reading all = Read();
  History loaded = Empty();
  static_cast<void>(loaded.histogram.LoadCheckpoint(all.histogram().SaveCheckpoint()));
  loaded.minutes = all.minutes;
  own_ = std::move(loaded);
  by_labels_.clear();
  earlier_ = std::move(aside);
}

void UsageTrack::Collect(estimators::Time before) {
  std::erase_if(by_labels_, [before](const auto& entry) {
    const auto last = entry.second->minutes.Last();
    return last && *last < before;
  });
}

size_t UsageTrack::MemoryBytes() const {
  size_t bytes = sizeof(*this) + own_.histogram.MemoryBytes() - sizeof(own_.histogram);
  for (const auto& [labels, history] : by_labels_) {
    bytes += sizeof(labels) + sizeof(history) + sizeof(History) + history->histogram.MemoryBytes() -
             sizeof(history->histogram);
  }
  bytes += hours_.MemoryBytes() - sizeof(hours_);
  bytes += high_water_.MemoryBytes() - sizeof(high_water_);
  return bytes + (earlier_ == nullptr ? 0 : earlier_->MemoryBytes());
}

void UsageTrack::Save(ByteWriter& out) const {
  uint8_t bits = 0;
  if (kind_.samples == SampleKind::kPeakPerWindow) bits |= kPeaksBit;
  if (kind_.weight == WeightRule::kByRequest) bits |= kByRequestBit;
  if (kind_.strict) bits |= kStrictBit;
  if (earlier_ != nullptr) bits |= kEarlierBit;
  if (!hours_.IsEmpty()) bits |= kHoursBit;
  if (!high_water_.IsEmpty()) bits |= kHighWaterBit;
  out.Byte(bits);
  out.Double(layout_.first);
  out.Double(layout_.ratio);
  out.Double(layout_.max);
  SaveHistory(own_, out);
  if (kind_.strict) {
    out.Varint(by_labels_.size());
    for (const auto& [labels, history] : by_labels_) {
      out.Fixed64(labels);
      SaveHistory(*history, out);
    }
  }
  if (!hours_.IsEmpty()) hours_.Save(out);
  if (!high_water_.IsEmpty()) high_water_.Save(out);
  if (earlier_ != nullptr) earlier_->Save(out);
}

Result<UsageTrack> UsageTrack::Restore(ByteReader& in, LayoutPool& layouts) {
  return Restore(in, layouts, kEarlierBit | kHoursBit | kHighWaterBit);
}

/// `allowed`: the bits of the kind that may be set.
Result<UsageTrack> UsageTrack::Restore(ByteReader& in, LayoutPool& layouts, uint8_t allowed) {
  const uint8_t bits = in.Byte();
  if (in.failed() || (bits & ~(kKindBits | allowed)) != 0) return Refuse("its kind is not known");
  BucketLayout layout;
  layout.first = in.Double();
  layout.ratio = in.Double();
  layout.max = in.Double();
  const auto options =
      estimators::HistogramOptions::Exponential(layout.max, layout.first, layout.ratio, 0.0001);
  if (in.failed() || !options || options->NumBuckets() > kMaxBuckets) {
    return Refuse("it is cut or its buckets cannot be");
  }
  const SamplingKind kind{
      .samples = (bits & kPeaksBit) != 0 ? SampleKind::kPeakPerWindow : SampleKind::kEveryMinute,
      .weight = (bits & kByRequestBit) != 0 ? WeightRule::kByRequest : WeightRule::kConstant,
      .strict = (bits & kStrictBit) != 0};
  auto own = RestoreHistory(in, layouts.Of(layout), kFormat);
  if (!own) return tl::unexpected(std::move(own.error()));
  UsageTrack track(kind, layout, std::move(*own));
  if (kind.strict) {
    const uint64_t count = in.Count(10);
    if (in.failed() || count > kMaxLabelSets) return Refuse("its label sets are cut");
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t labels = in.Fixed64();
      if (i > 0 && labels <= track.by_labels_.back().first) {
        return Refuse("its label sets are out of order");
      }
      auto history = RestoreHistory(in, layouts.Of(layout), kFormat);
      if (!history) return tl::unexpected(std::move(history.error()));
      track.by_labels_.emplace_back(labels, std::make_unique<History>(std::move(*history)));
    }
  }
  if ((bits & kHoursBit) != 0) {
    auto hours = HoursTrack::Restore(in);
    if (!hours) return tl::unexpected(std::move(hours.error()));
    track.hours_ = std::move(*hours);
  }
  if ((bits & kHighWaterBit) != 0) {
    auto high_water = estimators::HighWaterTrack::Restore(in);
    if (!high_water) return tl::unexpected(std::move(high_water.error()));
    track.high_water_ = std::move(*high_water);
  }
  if ((bits & kEarlierBit) != 0) {
    auto earlier = Restore(in, layouts, 0);
    if (!earlier) return tl::unexpected(std::move(earlier.error()));
    track.earlier_ = std::make_unique<UsageTrack>(std::move(*earlier));
  }
  return track;
}

Result<UsageTrack> UsageTrack::RestoreFirstFormat(ByteReader& in, Resource resource,
                                                  LayoutPool& layouts) {
  const bool peaks = resource == Resource::kMemory || resource == Resource::kGpuMemory;
  const BucketLayout layout = peaks ? kFirstBytes : kFirstCores;
  auto own = RestoreHistory(in, layouts.Of(layout), kFirstFormat);
  if (!own) return tl::unexpected(std::move(own.error()));
  const SamplingKind kind{.samples = peaks ? SampleKind::kPeakPerWindow : SampleKind::kEveryMinute};
  return UsageTrack(kind, layout, std::move(*own));
}

}  // namespace tidemark::engine
