#include "estimators/adaptive_request.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tidemark::estimators {

namespace {

/// Of the mean that a request is measured by: half of it is of the last three days.
constexpr double kMeanHalfLifeHours = 72;
/// An hour of fewer samples says less of how often the request is passed.
constexpr double kFullHour = 10;
constexpr int32_t kDaysKept = 7;
constexpr double kLeastTarget = 1e-6;

void Increase(uint32_t& count) {
  if (count < UINT32_MAX) ++count;
}

bool IsUsage(double usage) { return std::isfinite(usage) && usage >= 0; }

}  // namespace

double AdaptiveRequestOptions::Tolerated(double request, double mean) const {
  const double ratio = mean > 0 ? request / (reference_ratio * mean) : 1;
  return std::min(1.0, target_exceedance * std::clamp(ratio, least_tolerance, most_tolerance));
}

bool AdaptiveRequest::AddSample(Time time, double usage, const AdaptiveRequestOptions& options) {
  if (!IsUsage(usage)) return false;
  usage = std::min(usage, kGreatestLevel);
  const int32_t hour = HourOf(time);
  if (IsEmpty()) {
    running_hour_ = first_hour_ = hour;
  } else if (hour > running_hour_) {
    CloseRunning(hour, options);
  }
  first_hour_ = std::min(first_hour_, hour);
  // Encoding a level costs more than all the rest.
  if (hour < running_hour_ || running_.samples.IsEmpty() || usage > running_.samples.largest()) {
    days_.Raise(DayOfHour(hour), usage);
  }
  if (hour < running_hour_) {
    AddLate(hour, usage, options);
    return true;
  }
  running_.samples.Add(usage);
  sum_ += usage;
  Increase(count_);
  if (running_.request > 0) {
    Increase(samples_);
    if (usage > running_.request) Increase(above_);
  }
  return true;
}

void AdaptiveRequest::AddLate(int32_t hour, double usage, const AdaptiveRequestOptions& options) {
  if (hour + 1 < running_hour_) {
    if (hours_.CodeAt(hour) == kUnknownLevel) hours_.Put(hour, usage);
    if (running_.request == 0) Decide(running_hour_, options);
    return;
  }
  before_.samples.Add(usage);
  hours_.Put(hour, before_.samples.Quantile(options.hour_quantile));
  if (running_.request == 0) Decide(running_hour_, options);
  if (before_.request > 0) {
    Increase(samples_);
    if (usage > before_.request) Increase(above_);
  }
}

void AdaptiveRequest::Close(Time time, const AdaptiveRequestOptions& options) {
  const int32_t hour = HourOf(time);
  if (!IsEmpty() && hour > running_hour_ && !running_.samples.IsEmpty()) {
    CloseRunning(hour, options);
  }
}

/// The running hour is over, `next` is the one that runs now.
void AdaptiveRequest::CloseRunning(int32_t next, const AdaptiveRequestOptions& options) {
  if (!running_.samples.IsEmpty()) {
    hours_.Put(running_hour_, running_.samples.Quantile(options.hour_quantile));
    RememberMean(next);
    if (next - int64_t{first_hour_} > kHoursOfADay) Learn(options);
    samples_ = above_ = 0;
  }
  const bool follows = next == running_hour_ + 1;
  before_ = follows ? running_ : OpenHour{.samples = {}, .request = running_.request};
  running_.samples = HourSamples();
  running_hour_ = next;
  Decide(next, options);
}

void AdaptiveRequest::RememberMean(int32_t next) {
  if (count_ == 0) return;
  const double kept =
      std::exp2(-static_cast<double>(next - int64_t{running_hour_}) / kMeanHalfLifeHours);
  mean_sum_ = (mean_sum_ + sum_ / count_) * kept;
  mean_hours_ = (mean_hours_ + 1) * kept;
  sum_ = 0;
  count_ = 0;
}

void AdaptiveRequest::Learn(const AdaptiveRequestOptions& options) {
  if (samples_ == 0) return;
  const double exceeded = static_cast<double>(above_) / samples_;
  const double error = exceeded - options.Tolerated(running_.request, Mean());
  const double weight = std::min(1.0, samples_ / kFullHour);
  correction_ += weight * options.gain * (error < 0 ? options.relax * error : error);
  correction_ = std::clamp(correction_, -options.most_correction, options.most_correction);
  Increase(learnt_);
}

/// The largest of the hours around the same hour, of the first of these days before that has any.
double AdaptiveRequest::SameHour(int32_t hour, int32_t first_day, int32_t last_day) const {
  for (int32_t day = first_day; day <= last_day; ++day) {
    const LevelCode code = hours_.Largest(hour - day * kHoursOfADay + 1, 3);
    if (code != kUnknownLevel) return DecodeLevel(code);
  }
  return 0;
}

LevelCode AdaptiveRequest::Typical() const {
  std::array<LevelCode, 192> known{};
  size_t count = 0;
  for (int32_t back = 0; back < static_cast<int32_t>(known.size()); ++back) {
    const LevelCode code = hours_.CodeAt(hours_.newest() - back);
    if (code != kUnknownLevel) known[count++] = code;
  }
  if (count == 0) return kUnknownLevel;
  const auto middle = known.begin() + static_cast<ptrdiff_t>((count - 1) / 2);
  std::nth_element(known.begin(), middle, known.begin() + static_cast<ptrdiff_t>(count));
  return *middle;
}

AdaptiveRequest::Explanation AdaptiveRequest::Want(int32_t hour,
                                                   const AdaptiveRequestOptions& options) const {
  Explanation told;
  told.last_hour = hours_.At(hours_.newest());
  told.day_before = SameHour(hour, 1, kDaysKept);
  told.week_before = SameHour(hour, kDaysKept, kDaysKept);
  told.typical_hour = DecodeLevel(Typical());
  const double peak = std::max({told.last_hour, told.day_before, told.week_before});
  told.base = options.peak_share * peak + (1 - options.peak_share) * told.typical_hour;
  told.for_target =
      std::pow(options.reference_exceedance / std::max(options.target_exceedance, kLeastTarget),
               options.tail_exponent);
  told.correction = std::exp(correction_);
  told.cap = options.cap_ratio * DecodeLevel(days_.Largest(days_.newest(), kDaysKept + 1));
  told.wanted = std::min(told.base * told.for_target * told.correction, told.cap);
  told.mean = Mean();
  return told;
}

void AdaptiveRequest::Decide(int32_t hour, const AdaptiveRequestOptions& options) {
  const double wanted = Want(hour, options).wanted;
  const bool lower = wanted < running_.request * (1 - options.lower_by);
  if (wanted > running_.request || lower) running_.request = wanted;
}

std::optional<double> AdaptiveRequest::Request() const {
  if (hours_.IsEmpty()) return std::nullopt;
  return running_.request;
}

std::optional<AdaptiveRequest::Explanation> AdaptiveRequest::Explain(
    const AdaptiveRequestOptions& options) const {
  if (hours_.IsEmpty()) return std::nullopt;
  Explanation told = Want(running_hour_, options);
  told.request = running_.request;
  told.tolerated = options.Tolerated(told.request, told.mean);
  told.exceeded = samples_ > 0 ? static_cast<double>(above_) / samples_ : 0;
  return told;
}

std::optional<double> AdaptiveRequest::RequestForADay(const DecayingHistogram& decayed,
                                                      const AdaptiveRequestOptions& options) const {
  if (decayed.IsEmpty()) return std::nullopt;
  const double mean = mean_hours_ > 0 ? Mean() : (count_ > 0 ? sum_ / count_ : 0);
  const HistogramOptions& layout = decayed.options();
  const auto end = [&](int bucket) {
    return layout.BucketStart(std::min(bucket + 1, layout.NumBuckets() - 1));
  };
  // Down from the top as long as what would be passed is tolerated.
  int bucket = decayed.MaxBucket();
  double above = 0;
  for (; bucket > decayed.MinBucket(); --bucket) {
    above += decayed.Weight(bucket) / decayed.TotalWeight();
    const double lower = end(bucket - 1) * (1 + options.day_margin);
    if (above > options.Tolerated(lower, mean)) break;
  }
  return end(bucket) * (1 + options.day_margin);
}

void AdaptiveRequest::Merge(const AdaptiveRequest& other, const AdaptiveRequestOptions& options) {
  if (other.IsEmpty()) return;
  if (IsEmpty()) {
    *this = other;
    return;
  }
  AdaptiveRequest from = other;
  // Both come to the same hour first; what the other then has open is of that hour.
  if (from.running_hour_ > running_hour_) CloseRunning(from.running_hour_, options);
  if (from.running_hour_ < running_hour_) from.CloseRunning(running_hour_, options);
  const uint64_t learnt = uint64_t{learnt_} + from.learnt_;
  if (learnt > 0) {
    correction_ =
        (correction_ * learnt_ + from.correction_ * from.learnt_) / static_cast<double>(learnt);
  }
  hours_.Merge(from.hours_);
  days_.Merge(from.days_);
  running_.samples.Merge(from.running_.samples);
  before_.samples.Merge(from.before_.samples);
  running_.request = std::max(running_.request, from.running_.request);
  before_.request = std::max(before_.request, from.before_.request);
  first_hour_ = std::min(first_hour_, from.first_hour_);
  const auto add = [](uint32_t& to, uint32_t what) {
    to = static_cast<uint32_t>(std::min<uint64_t>(UINT32_MAX, uint64_t{to} + what));
  };
  add(samples_, from.samples_);
  add(above_, from.above_);
  add(count_, from.count_);
  learnt_ = std::max(learnt_, from.learnt_);
  sum_ += from.sum_;
  mean_sum_ += from.mean_sum_;
  mean_hours_ += from.mean_hours_;
}

}  // namespace tidemark::estimators
