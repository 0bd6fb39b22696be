// An ExcessWindow as it outlives the process.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "estimators/excess_code.h"
#include "estimators/excess_window.h"

namespace tidemark::estimators {
namespace {

/// More than what rounding adds.
constexpr double kRoom = 1.001;

bool IsValue(double value) { return value >= 0 && value <= kLargestExcess * kRoom; }

}  // namespace

void ExcessWindow::Save(ByteWriter& out) const {
  out.Byte(day_count_);
  for (const Day& day : Days()) {
    out.Varint(static_cast<uint64_t>(day.day));
    out.Varint(day.observations);
    out.Fixed32(std::bit_cast<uint32_t>(day.floor));
    out.Fixed32(std::bit_cast<uint32_t>(day.largest));
    out.Varint(day.count);
  }
  for (const uint32_t code : kept_) out.Fixed32(code);
}

Result<ExcessWindow> ExcessWindow::Restore(ByteReader& in) {
  const auto refuse = [] {
    return Fail(ErrorCode::kInvalidArgument,
                "saved high-water mark: it is cut or damaged, must be up to 7 days of up to 64 "
                "values that are kept");
  };
  ExcessWindow window;
  window.day_count_ = in.Byte();
  if (in.failed() || window.day_count_ > kDays) return refuse();
  size_t kept = 0;
  int64_t before = -1;
  for (Day& day : window.Days()) {
    const uint64_t number = in.Varint();
    const uint64_t observations = in.Varint();
    day.floor = std::bit_cast<float>(in.Fixed32());
    day.largest = std::bit_cast<float>(in.Fixed32());
    const uint64_t count = in.Varint();
    if (in.failed() || number > kLastMinute / kMinutesPerDay ||
        static_cast<int64_t>(number) <= before || observations == 0 ||
        observations > std::numeric_limits<uint32_t>::max() || count > kPerDay ||
        count > observations || !IsValue(day.floor) || !IsValue(day.largest)) {
      return refuse();
    }
    before = static_cast<int64_t>(number);
    day.day = static_cast<int32_t>(number);
    day.observations = static_cast<uint32_t>(observations);
    day.count = static_cast<uint32_t>(count);
    kept += day.count;
  }
  if (window.day_count_ > 0 && before - window.days_.front().day >= kDays) return refuse();
  window.kept_.reserve(kept);
  for (const Day& day : window.Days()) {
    for (uint32_t i = 0; i < day.count; ++i) {
      const uint32_t code = in.Fixed32();
      if (MinuteOf(code) >= kMinutesPerDay || !(ValueOf(code) <= double{day.largest} * kRoom)) {
        return refuse();
      }
      window.kept_.push_back(code);
    }
    const auto values = std::span(window.kept_).last(day.count);
    if (!std::ranges::is_heap(values, std::greater<>{})) return refuse();
  }
  if (in.failed()) return refuse();
  return window;
}

}  // namespace tidemark::estimators
