#include "estimators/high_water.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tidemark::estimators {
namespace {

constexpr int64_t kHour = HighWaterTrack::kRefitMinutes;

/// A minute of the hour, from the bits of the first value: as good as by chance, and the same
/// again.
uint8_t PhaseOf(double value) {
  const uint64_t mixed = std::bit_cast<uint64_t>(value) * 0x9E3779B97F4A7C15U;
  return static_cast<uint8_t>((mixed >> 32) % static_cast<uint64_t>(kHour));
}

/// The next minute after `minute` that is `phase` into an hour.
uint32_t NextRefit(int64_t minute, uint8_t phase) {
  return static_cast<uint32_t>(minute + kHour - (minute - phase + kHour) % kHour);
}

/// A bucket answers with its end; what lies in it may already be an excess.
double StartOfBucket(const DecayingHistogram& histogram, double percentile) {
  const HistogramOptions& layout = histogram.options();
  const int bucket = layout.FindBucket(percentile);
  return layout.BucketStart(std::max(0, bucket - 1));
}

}  // namespace

bool HighWaterTrack::Add(int64_t minute, double value, const DecayingHistogram* histogram,
                         FitChoice choice) {
  const bool first = window_.Observations() == 0;
  const bool due = !first && minute >= int64_t{next_refit_};
  if (due) Refit(minute, histogram, choice);
  if (!window_.Add(minute, value, double{gate_})) return due;
  if (first) {
    phase_ = PhaseOf(value);
    next_refit_ = NextRefit(minute, phase_);
  }
  return due;
}

void HighWaterTrack::Refit(int64_t minute, const DecayingHistogram* histogram, FitChoice choice) {
  const double level = window_.Observations() < kFewMinutes ? kThresholdOfFew : kThreshold;
  gate_ = 0;
  if (histogram != nullptr && !histogram->IsEmpty()) {
    gate_ = static_cast<float>(StartOfBucket(*histogram, histogram->Percentile(level)));
  }
  tail_ = window_.Fit(level, 0, choice);
  next_refit_ = NextRefit(minute, phase_);
}

void HighWaterTrack::Merge(const HighWaterTrack& other) {
  if (other.IsEmpty()) return;
  if (IsEmpty()) {
    *this = other;
    return;
  }
  window_.Merge(other.window_);
  if (other.tail_ && (!tail_ || other.tail_->observations > tail_->observations)) {
    tail_ = other.tail_;
  }
  next_refit_ = 0;
}

std::optional<HighWaterLevel> HighWaterTrack::LevelOf(double risk,
                                                      const DecayingHistogram* histogram,
                                                      const HighWaterBounds& bounds) const {
  if (!tail_ || tail_->observations == 0) return std::nullopt;
  const double largest = window_.Largest();
  HighWaterLevel level;
  if (tail_->excesses > 0 && risk >= tail_->ExcessRatio()) {
    level.source = LevelSource::kEmpirical;
    // What is below the threshold is known to the histogram, or not at all.
    level.value = tail_->threshold;
    if (const auto empirical = window_.Empirical(risk)) {
      level.value = *empirical;
    } else if (histogram != nullptr && !histogram->IsEmpty()) {
      level.value = std::min(level.value, histogram->Percentile(1 - risk));
    }
  } else if (tail_->IsFitted()) {
    level.source = LevelSource::kTail;
    level.value = tail_->CautiousLevel(risk);
  } else {
    level.value = largest;
  }
  const double highest =
      std::min(largest * bounds.most_over_largest, bounds.cap.value_or(HUGE_VAL));
  level.capped = level.value > highest;
  level.value = std::min(level.value, highest);
  return level;
}

bool HighWaterTrack::IsCensored(double cap) const {
  if (!tail_ || !(cap > 0) || window_.Largest() < cap * kAtCap) return false;
  if (tail_->threshold >= cap * kAtCap) return true;  // so much of it that nothing exceeds that
  const ExcessWindow::AtCap count = window_.CountAtCap(tail_->threshold, cap * kAtCap);
  return count.at_cap > 0 &&
         static_cast<double>(count.at_cap) >= kCensoredRatio * static_cast<double>(count.excesses);
}

}  // namespace tidemark::estimators
