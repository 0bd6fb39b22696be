#include "forecast/demand_history.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::forecast {
namespace {

constexpr float kGap = std::numeric_limits<float>::quiet_NaN();
constexpr double kMostCode = 65535;
constexpr int64_t kMaxStep = int64_t{1} << 40;  // beyond every time there is
// A day whose largest value grows has all its codes made anew, so room is left for growth.
constexpr double kRoomToGrow = 1.5;

}  // namespace

float DemandSeries::At(int64_t step) const {
  return step < first || step >= end() ? kGap : values[static_cast<size_t>(step - first)];
}

DemandHistory::DemandHistory(int32_t step_minutes) : step_minutes_(step_minutes) {}

DemandHistory::DemandHistory(const DemandHistory& other) { *this = other; }

DemandHistory& DemandHistory::operator=(const DemandHistory& other) {
  if (this == &other) return *this;
  step_minutes_ = other.step_minutes_;
  newest_ = other.newest_;
  oldest_ = other.oldest_;
  for (size_t i = 0; i < days_.size(); ++i) {
    days_[i] = other.days_[i] ? std::make_unique<Day>(*other.days_[i]) : nullptr;
  }
  return *this;
}

DemandHistory::Day* DemandHistory::Find(int64_t day) {
  Day* const found = days_[static_cast<size_t>(day % (kDays + 1))].get();
  return found != nullptr && found->number == day ? found : nullptr;
}

const DemandHistory::Day* DemandHistory::Find(int64_t day) const {
  const Day* const found = days_[static_cast<size_t>(day % (kDays + 1))].get();
  return found != nullptr && found->number == day ? found : nullptr;
}

void DemandHistory::Encode(Day& day, size_t at, float demand) {
  const auto code_of = [](double amount, double scale) {
    return static_cast<uint16_t>(std::min(kMostCode, 1 + std::round(amount / scale)));
  };
  if (double{demand} > double{day.scale} * (kMostCode - 1)) {
    // Of a first value, or a spike, no more than the room is given away.
    const auto scale = static_cast<float>(double{demand} * kRoomToGrow / (kMostCode - 1));
    for (uint16_t& code : day.codes) {
      if (code > 1) code = code_of((code - 1) * double{day.scale}, scale);
    }
    day.scale = scale;
  }
  day.codes[at] = demand > 0 && day.scale > 0 ? code_of(demand, day.scale) : uint16_t{1};
}

void DemandHistory::DropBefore(int64_t step) {
  if (oldest_ >= step) return;
  const int64_t first_day = step / StepsADay();
  for (auto& day : days_) {
    if (day && day->number < first_day) day.reset();
  }
  while (oldest_ < step || (oldest_ < newest_ && std::isnan(At(oldest_)))) ++oldest_;
}

void DemandHistory::Put(int64_t step, double demand) {
  if (step < 0 || step > kMaxStep || !std::isfinite(demand)) return;
  const auto value = static_cast<float>(
      std::clamp(demand, 0.0, double{std::numeric_limits<float>::max()} / (2 * kRoomToGrow)));
  const int64_t steps_kept = kDays * StepsADay();
  if (newest_ >= 0 && step <= newest_ - steps_kept) return;
  if (newest_ < 0 || step - newest_ >= steps_kept) {
    for (auto& day : days_) day.reset();
    oldest_ = newest_ = step;
  } else if (step > newest_) {
    newest_ = step;
  } else {
    oldest_ = std::min(oldest_, step);
  }
  const int64_t number = step / StepsADay();
  Day* day = Find(number);
  if (day == nullptr) {
    auto fresh = std::make_unique<Day>();
    fresh->number = number;
    fresh->codes.assign(static_cast<size_t>(StepsADay()), 0);
    day = fresh.get();
    // What was in its place is nine days older.
    days_[static_cast<size_t>(number % (kDays + 1))] = std::move(fresh);
  }
  Encode(*day, static_cast<size_t>(step % StepsADay()), value);
  DropBefore(newest_ - steps_kept + 1);
}

float DemandHistory::At(int64_t step) const {
  if (newest_ < 0 || step > newest_ || step < oldest_) return kGap;
  const Day* const day = Find(step / StepsADay());
  if (day == nullptr) return kGap;
  const uint16_t code = day->codes[static_cast<size_t>(step % StepsADay())];
  return code == 0 ? kGap : static_cast<float>(code - 1) * day->scale;
}

void DemandHistory::Window(int64_t last, std::span<float> out) const {
  int64_t step = last - static_cast<int64_t>(out.size()) + 1;
  const Day* day = nullptr;
  for (float& value : out) {
    value = kGap;
    if (newest_ >= 0 && step >= oldest_ && step <= newest_) {
      const int64_t number = step / StepsADay();
      if (day == nullptr || day->number != number) day = Find(number);
      if (day != nullptr) {
        const uint16_t code = day->codes[static_cast<size_t>(step % StepsADay())];
        if (code != 0) value = static_cast<float>(code - 1) * day->scale;
      }
    }
    ++step;
  }
}

DemandSeries DemandHistory::Series() const {
  DemandSeries series;
  if (IsEmpty()) return series;
  series.first = oldest_;
  series.values.resize(static_cast<size_t>(Span()));
  Window(newest_, series.values);
  return series;
}

void DemandHistory::FillFrom(const DemandHistory& earlier) {
  if (earlier.IsEmpty() || earlier.step_minutes_ != step_minutes_) return;
  for (int64_t step = earlier.oldest_; step <= earlier.newest_; ++step) {
    const float value = earlier.At(step);
    if (!std::isnan(value) && std::isnan(At(step))) Put(step, value);
  }
}

DemandHistory DemandHistory::InStepsOf(int32_t minutes) const {
  DemandHistory coarse(minutes);
  if (IsEmpty()) return coarse;
  const int64_t times = minutes / step_minutes_;
  for (int64_t to = oldest_ / times; to <= newest_ / times; ++to) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t step = to * times; step < (to + 1) * times; ++step) {
      const float value = At(step);
      if (std::isnan(value)) continue;
      sum += double{value};
      ++count;
    }
    if (count > 0) coarse.Put(to, sum / static_cast<double>(count));
  }
  return coarse;
}

size_t DemandHistory::MemoryBytes() const {
  size_t bytes = sizeof(*this);
  for (const auto& day : days_) {
    if (day) bytes += sizeof(Day) + day->codes.capacity() * sizeof(uint16_t);
  }
  return bytes;
}

void DemandHistory::Save(ByteWriter& out) const {
  out.Varint(static_cast<uint64_t>(step_minutes_));
  out.Bool(!IsEmpty());
  if (IsEmpty()) return;
  out.Signed(oldest_);
  out.Signed(newest_);
  for (int64_t number = oldest_ / StepsADay(); number <= newest_ / StepsADay(); ++number) {
    const Day* const day = Find(number);
    out.Bool(day != nullptr);
    if (day == nullptr) continue;
    out.Double(double{day->scale});
    // Neighbours are alike: their differences are short.
    int64_t before = 0;
    for (const uint16_t code : day->codes) {
      out.Signed(int64_t{code} - before);
      before = code;
    }
  }
}

void DemandHistory::Restore(ByteReader& in) {
  *this = DemandHistory(step_minutes_);
  DemandHistory read;
  const uint64_t minutes = in.Varint();
  if (minutes < 1 || minutes > 60 || 1440 % minutes != 0) return in.Fail();
  read.step_minutes_ = static_cast<int32_t>(minutes);
  if (!in.Bool()) {
    if (!in.failed()) *this = std::move(read);
    return;
  }
  read.oldest_ = in.Signed();
  read.newest_ = in.Signed();
  if (in.failed() || read.oldest_ < 0 || read.newest_ > kMaxStep || read.oldest_ > read.newest_ ||
      read.newest_ - read.oldest_ >= kDays * read.StepsADay()) {
    return in.Fail();
  }
  for (int64_t number = read.oldest_ / read.StepsADay(); number <= read.newest_ / read.StepsADay();
       ++number) {
    if (!in.Bool()) continue;
    auto day = std::make_unique<Day>();
    day->number = number;
    day->scale = static_cast<float>(in.Double());
    if (!(day->scale >= 0) || !std::isfinite(day->scale)) return in.Fail();
    day->codes.reserve(static_cast<size_t>(read.StepsADay()));
    int64_t code = 0;
    for (int64_t i = 0; i < read.StepsADay(); ++i) {
      const int64_t change = in.Signed();
      if (change < -static_cast<int64_t>(kMostCode) || change > static_cast<int64_t>(kMostCode))
        return in.Fail();
      code += change;
      if (in.failed() || code < 0 || code > static_cast<int64_t>(kMostCode)) return in.Fail();
      day->codes.push_back(static_cast<uint16_t>(code));
    }
    read.days_[static_cast<size_t>(number % (kDays + 1))] = std::move(day);
  }
  if (in.failed() || std::isnan(read.At(read.oldest_)) || std::isnan(read.At(read.newest_))) {
    return in.Fail();
  }
  *this = std::move(read);
}

}  // namespace tidemark::forecast
