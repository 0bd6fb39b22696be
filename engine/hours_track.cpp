#include "engine/hours_track.h"

#include <algorithm>
#include <utility>

namespace tidemark::engine {
namespace {

using estimators::AdaptiveRequest;
using estimators::PeakRequest;

constexpr uint8_t kAdaptiveBit = 1;
constexpr uint8_t kPeaksBit = 2;
constexpr int32_t kMostHour = 3'000'000;  // beyond every hour that Time has

}  // namespace

estimators::AdaptiveRequestOptions AdaptiveOptionsOf(const ResourceRule& rule) {
  estimators::AdaptiveRequestOptions options;
  options.target_exceedance = rule.adaptive.target_exceedance_ratio;
  return options;
}

estimators::PeakRequestOptions PeakOptionsOf(const ResourceRule& rule) {
  estimators::PeakRequestOptions options;
  options.safety_factor = rule.adaptive.safety_factor;
  options.keeps_maximum = rule.adaptive.keeps_week_maximum;
  return options;
}

HoursTrack::HoursTrack(const HoursTrack& other)
    : first_hour_(other.first_hour_), last_hour_(other.last_hour_) {
  if (other.adaptive_) adaptive_ = std::make_unique<AdaptiveRequest>(*other.adaptive_);
  if (other.peaks_) peaks_ = std::make_unique<PeakRequest>(*other.peaks_);
}

void HoursTrack::Add(SampleKind kind, estimators::Time start, double usage,
                     const ResourceRule& rule) {
  const bool by_peaks = kind == SampleKind::kPeakPerWindow;
  if (by_peaks ? adaptive_ != nullptr : peaks_ != nullptr) Clear();
  if (by_peaks) {
    if (!peaks_) peaks_ = std::make_unique<PeakRequest>();
    if (!peaks_->AddSample(start, usage, PeakOptionsOf(rule))) return;
  } else {
    if (!adaptive_) adaptive_ = std::make_unique<AdaptiveRequest>();
    if (!adaptive_->AddSample(start, usage, AdaptiveOptionsOf(rule))) return;
  }
  const int32_t hour = estimators::HourOf(start);
  last_hour_ = first_hour_ ? std::max(last_hour_, hour) : hour;
  first_hour_ = std::min(first_hour_.value_or(hour), hour);
}

void HoursTrack::Close(estimators::Time time, const ResourceRule& rule) {
  if (adaptive_) adaptive_->Close(time, AdaptiveOptionsOf(rule));
  if (peaks_) peaks_->Close(time, PeakOptionsOf(rule));
}

bool HoursTrack::KnowsADay() const {
  return first_hour_ && last_hour_ - *first_hour_ >= estimators::kHoursOfADay;
}

std::optional<double> HoursTrack::Request(const ResourceRule& rule,
                                          const estimators::DecayingHistogram& decayed) const {
  if (peaks_) return peaks_->Request();
  if (!adaptive_) return std::nullopt;
  return rule.adaptive.resize_in_place
             ? adaptive_->Request()
             : adaptive_->RequestForADay(decayed, AdaptiveOptionsOf(rule));
}

void HoursTrack::Merge(const HoursTrack& other, const ResourceRule& rule) {
  if (other.IsEmpty()) return;
  if (IsEmpty()) {
    *this = HoursTrack(other);
    return;
  }
  if (adaptive_ && other.adaptive_) {
    adaptive_->Merge(*other.adaptive_, AdaptiveOptionsOf(rule));
  } else if (peaks_ && other.peaks_) {
    peaks_->Merge(*other.peaks_, PeakOptionsOf(rule));
  } else {
    return;  // of different kinds of samples
  }
  if (!other.first_hour_) return;
  last_hour_ = first_hour_ ? std::max(last_hour_, other.last_hour_) : other.last_hour_;
  first_hour_ = std::min(first_hour_.value_or(*other.first_hour_), *other.first_hour_);
}

void HoursTrack::Clear() { *this = HoursTrack(); }

size_t HoursTrack::MemoryBytes() const {
  return sizeof(*this) + (adaptive_ ? adaptive_->MemoryBytes() : 0) +
         (peaks_ ? peaks_->MemoryBytes() : 0);
}

void HoursTrack::Save(ByteWriter& out) const {
  out.Byte(static_cast<uint8_t>((adaptive_ ? kAdaptiveBit : 0) | (peaks_ ? kPeaksBit : 0)));
  if (adaptive_) adaptive_->Save(out);
  if (peaks_) peaks_->Save(out);
  out.Bool(first_hour_.has_value());
  if (!first_hour_) return;
  out.Signed(*first_hour_);
  out.Varint(static_cast<uint64_t>(last_hour_ - *first_hour_));
}

Result<HoursTrack> HoursTrack::Restore(ByteReader& in) {
  const auto refuse = [](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, "saved hours of use: " + std::string(why));
  };
  const uint8_t bits = in.Byte();
  if (in.failed() || bits == 0 || bits > kPeaksBit) return refuse("their kind is not known");
  HoursTrack track;
  if (bits == kAdaptiveBit) {
    auto adaptive = AdaptiveRequest::Restore(in);
    if (!adaptive) return tl::unexpected(std::move(adaptive.error()));
    track.adaptive_ = std::make_unique<AdaptiveRequest>(*adaptive);
  } else {
    auto peaks = PeakRequest::Restore(in);
    if (!peaks) return tl::unexpected(std::move(peaks.error()));
    track.peaks_ = std::make_unique<PeakRequest>(*peaks);
  }
  if (in.Bool()) {
    const int64_t first = in.Signed();
    const uint64_t span = in.Varint();
    if (first < -kMostHour || first > kMostHour || span > kMostHour) {
      return refuse("their times cannot be");
    }
    track.first_hour_ = static_cast<int32_t>(first);
    track.last_hour_ = static_cast<int32_t>(first + static_cast<int64_t>(span));
  }
  if (in.failed()) return refuse("they are cut");
  return track;
}

}  // namespace tidemark::engine
