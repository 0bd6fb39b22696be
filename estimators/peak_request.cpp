#include "estimators/peak_request.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tidemark::estimators {

namespace {

constexpr double kHourHalfLife = 96;
constexpr int32_t kHoursKept = 192;

const std::array<double, kHoursKept>& HourWeights() {
  static const std::array<double, kHoursKept> kWeights = [] {
    std::array<double, kHoursKept> weights{};
    for (int32_t age = 0; age < kHoursKept; ++age) {
      weights[static_cast<size_t>(age)] = std::exp2(-age / kHourHalfLife);
    }
    return weights;
  }();
  return kWeights;
}

/// The smallest level that hours of no more than 1 - `share` of the weight pass. Takes as many
/// passes as there are different levels in that share: two or three.
LevelCode HighHour(const HourRing& hours, int32_t last, double share) {
  const auto& weights = HourWeights();
  double total = 0;
  for (int32_t age = 0; age < kHoursKept; ++age) {
    if (hours.CodeAt(last - age) != kUnknownLevel) total += weights[static_cast<size_t>(age)];
  }
  const double allowed = (1 - share) * total;
  double above = 0;
  uint32_t limit = UINT16_MAX + 1U;
  while (true) {
    LevelCode level = kUnknownLevel;
    double weight = 0;
    for (int32_t age = 0; age < kHoursKept; ++age) {
      const LevelCode code = hours.CodeAt(last - age);
      if (code >= limit || code < level || code == kUnknownLevel) continue;
      if (code > level) weight = 0;
      level = code;
      weight += weights[static_cast<size_t>(age)];
    }
    above += weight;
    if (level <= kNoLevel || above > allowed) return level;
    limit = level;
  }
}

}  // namespace

PeakRequest::Explanation PeakRequest::Want(const PeakRequestOptions& options) const {
  Explanation told;
  told.largest = DecodeLevel(hours_.Largest(hours_.newest(), kHoursOfAWeek + 1));
  // What runs is not a whole hour yet; it counts where there is nothing else.
  const bool runs = hours_.newest() == now_;
  LevelCode high = runs ? HighHour(hours_, now_ - 1, options.hour_quantile) : kUnknownLevel;
  if (high == kUnknownLevel) high = HighHour(hours_, hours_.newest(), options.hour_quantile);
  told.high_hour = DecodeLevel(high);
  told.with_factor = options.safety_factor * told.high_hour;
  told.is_maximum = options.keeps_maximum && told.largest > told.with_factor;
  told.request = told.is_maximum ? told.largest : told.with_factor;
  return told;
}

bool PeakRequest::AddSample(Time time, double usage, const PeakRequestOptions& options) {
  if (!std::isfinite(usage) || usage < 0) return false;
  const int32_t hour = HourOf(time);
  const bool begins = hours_.IsEmpty() || hour > now_;
  if (begins) {
    now_ = hour;
    if (!hours_.IsEmpty()) request_ = Want(options).request;
  }
  hours_.Raise(hour, usage);
  if (usage > request_) request_ = std::max(request_, Want(options).request);
  return true;
}

void PeakRequest::Close(Time time, const PeakRequestOptions& options) {
  const int32_t hour = HourOf(time);
  // Where the newest hour is not the one that runs, that was closed before.
  if (hours_.IsEmpty() || hour <= now_ || hours_.newest() != now_) return;
  now_ = hour;
  request_ = Want(options).request;
}

std::optional<double> PeakRequest::Request() const {
  if (hours_.IsEmpty()) return std::nullopt;
  return request_;
}

std::optional<PeakRequest::Explanation> PeakRequest::Explain(
    const PeakRequestOptions& options) const {
  if (hours_.IsEmpty()) return std::nullopt;
  Explanation told = Want(options);
  told.request = request_;
  return told;
}

double PeakRequest::DailyMaximum(int days) const {
  if (days < 0 || days > 7 || hours_.IsEmpty()) return 0;
  return DecodeLevel(hours_.Largest(hours_.newest() - days * kHoursOfADay, kHoursOfADay));
}

void PeakRequest::Merge(const PeakRequest& other, const PeakRequestOptions& options) {
  if (other.hours_.IsEmpty()) return;
  now_ = hours_.IsEmpty() ? other.now_ : std::max(now_, other.now_);
  hours_.Merge(other.hours_);
  request_ = Want(options).request;
}

void PeakRequest::Save(ByteWriter& out) const {
  out.Byte(kSavedFormat);
  hours_.Save(out);
  out.Signed(now_);
  out.Double(request_);
}

Result<PeakRequest> PeakRequest::Restore(ByteReader& in) {
  if (in.Byte() != kSavedFormat) in.Fail();
  PeakRequest read;
  read.hours_.Restore(in);
  const int64_t now = in.Signed();
  read.request_ = in.Double();
  const bool good = now >= HourOf(Time::min()) && now <= HourOf(Time::max()) &&
                    (read.hours_.IsEmpty() || read.hours_.newest() <= now) &&
                    std::isfinite(read.request_) && read.request_ >= 0;
  if (in.failed() || !good) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved peak request: it is cut or damaged, must be format 1 with hours up to the "
                "running one and a finite request of 0 or more");
  }
  read.now_ = static_cast<int32_t>(now);
  return read;
}

}  // namespace tidemark::estimators
