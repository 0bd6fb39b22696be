// The adaptive request as it outlives the process.
#include <cmath>

#include "estimators/adaptive_request.h"

namespace tidemark::estimators {

namespace {

uint32_t Read32(ByteReader& in) {
  const uint64_t value = in.Varint();
  if (value > UINT32_MAX) in.Fail();
  return static_cast<uint32_t>(value);
}

int32_t ReadHour(ByteReader& in) {
  const int64_t hour = in.Signed();
  if (hour < HourOf(Time::min()) || hour > HourOf(Time::max())) in.Fail();
  return static_cast<int32_t>(hour);
}

/// Finite and not negative.
double ReadSum(ByteReader& in) {
  const double value = in.Double();
  if (!std::isfinite(value) || value < 0) in.Fail();
  return value;
}

}  // namespace

void AdaptiveRequest::Save(ByteWriter& out) const {
  out.Byte(kSavedFormat);
  hours_.Save(out);
  days_.Save(out);
  for (const OpenHour* hour : {&running_, &before_}) {
    hour->samples.Save(out);
    out.Double(hour->request);
  }
  out.Signed(running_hour_);
  out.Signed(first_hour_);
  for (const uint32_t count : {samples_, above_, count_, learnt_}) out.Varint(count);
  for (const double sum : {sum_, mean_sum_, mean_hours_, correction_}) out.Double(sum);
}

Result<AdaptiveRequest> AdaptiveRequest::Restore(ByteReader& in) {
  if (in.Byte() != kSavedFormat) in.Fail();
  AdaptiveRequest read;
  read.hours_.Restore(in);
  read.days_.Restore(in);
  for (OpenHour* hour : {&read.running_, &read.before_}) {
    hour->samples.Restore(in);
    hour->request = ReadSum(in);
  }
  read.running_hour_ = ReadHour(in);
  read.first_hour_ = ReadHour(in);
  for (uint32_t* count : {&read.samples_, &read.above_, &read.count_, &read.learnt_}) {
    *count = Read32(in);
  }
  for (double* sum : {&read.sum_, &read.mean_sum_, &read.mean_hours_}) *sum = ReadSum(in);
  read.correction_ = in.Double();
  const bool good = std::isfinite(read.correction_) && read.above_ <= read.samples_ &&
                    (read.hours_.IsEmpty() || !read.days_.IsEmpty()) &&
                    (read.IsEmpty() || read.first_hour_ <= read.running_hour_);
  if (in.failed() || !good) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved adaptive request: it is cut or damaged, must be format 1 with hours, days, "
                "finite sums of 0 or more and no more samples above the request than there are");
  }
  return read;
}

}  // namespace tidemark::estimators
