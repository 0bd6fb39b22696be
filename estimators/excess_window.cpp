#include "estimators/excess_window.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "estimators/excess_code.h"

namespace tidemark::estimators {
namespace {

/// Room is taken for so many values at a time: doubling would waste half of it.
constexpr size_t kGrowBy = 16;

/// Not above it, so that what is bounded by the largest value stays below that bound.
float RoundedDown(double value) {
  const auto nearest = static_cast<float>(value);
  return double{nearest} > value ? std::nextafter(nearest, 0.0F) : nearest;
}

/// A day's kept values as a heap with the least on top.
using LeastOnTop = std::greater<>;

}  // namespace

ExcessWindow::Day* ExcessWindow::DayAt(int32_t day) {
  const auto days = Days();
  const auto place = std::ranges::lower_bound(days, day, {}, &Day::day);
  if (place != days.end() && place->day == day) return &*place;
  const int32_t newest = days.empty() ? day : std::max(day, days.back().day);
  if (day <= newest - kDays) return nullptr;
  auto index = static_cast<size_t>(place - days.begin());
  while (day_count_ > 0 && days_.front().day <= newest - kDays) {
    DropOldest();
    --index;  // only days before ours are that old
  }
  std::shift_right(days_.begin() + static_cast<ptrdiff_t>(index), days_.end(), 1);
  days_[index] = {.day = day};
  ++day_count_;
  TrimOld();
  return &days_[index];
}

void ExcessWindow::TrimOld() {
  size_t place = 0;
  for (Day& day : Days()) {
    const auto wanted = static_cast<size_t>(std::ceil(kKeptOfOld * day.observations));
    const size_t most = std::clamp(wanted, kLeastKept, kPerDay);
    if (day.day < days_[day_count_ - 1U].day - 1 && day.count > most) {
      const auto begin = kept_.begin() + static_cast<ptrdiff_t>(place);
      const auto gone = begin + static_cast<ptrdiff_t>(day.count - most);
      std::ranges::sort(begin, begin + static_cast<ptrdiff_t>(day.count));  // still a heap
      day.floor = std::max(day.floor, static_cast<float>(ValueOf(*std::prev(gone))));
      kept_.erase(begin, gone);
      day.count = static_cast<uint32_t>(most);
    }
    place += day.count;
  }
}

void ExcessWindow::DropOldest() {
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(days_.front().count));
  std::shift_left(days_.begin(), days_.end(), 1);
  --day_count_;
}

/// Where the kept values of `day` begin.
size_t ExcessWindow::PlaceOf(const Day& day) const {
  size_t place = 0;
  for (const Day& each : Days()) {
    if (&each == &day) break;
    place += each.count;
  }
  return place;
}

void ExcessWindow::Insert(size_t place, uint32_t code) {
  if (kept_.size() == kept_.capacity()) kept_.reserve(kept_.size() + kGrowBy);
  kept_.insert(kept_.begin() + static_cast<ptrdiff_t>(place), code);
}

/// Keeps the value, or lets go of the least of the day's in its favour, or of itself.
void ExcessWindow::Keep(Day& day, uint32_t code) {
  const size_t place = PlaceOf(day);
  if (day.count < kPerDay) {
    Insert(place + day.count, code);
    ++day.count;
    const auto heap = std::span(kept_).subspan(place, day.count);
    std::ranges::push_heap(heap, LeastOnTop{});
    return;
  }
  const auto heap = std::span(kept_).subspan(place, day.count);
  const uint32_t gone = std::min(heap.front(), code);
  day.floor = std::max(day.floor, static_cast<float>(ValueOf(gone)));
  if (gone == code) return;
  std::ranges::pop_heap(heap, LeastOnTop{});
  heap.back() = code;
  std::ranges::push_heap(heap, LeastOnTop{});
}

bool ExcessWindow::Add(int64_t minute, double value, double gate) {
  if (!(value >= 0) || !(value <= kLargestExcess)) return false;
  if (minute < 0 || minute > kLastMinute) return false;
  Day* const day = DayAt(static_cast<int32_t>(minute / kMinutesPerDay));
  if (day == nullptr) return false;
  const uint32_t code = CodeOf(value, static_cast<uint32_t>(minute % kMinutesPerDay));
  const auto rounded = static_cast<float>(ValueOf(code));
  if (day->observations < std::numeric_limits<uint32_t>::max()) ++day->observations;
  day->largest = std::max(day->largest, RoundedDown(value));
  if (value > gate) {
    Keep(*day, code);
  } else {
    day->floor = std::max(day->floor, rounded);
  }
  return true;
}

void ExcessWindow::Merge(const ExcessWindow& other) {
  size_t place = 0;
  for (const Day& from : other.Days()) {
    const auto values = std::span(other.kept_).subspan(place, from.count);
    place += from.count;
    Day* const into = DayAt(from.day);
    if (into == nullptr) continue;
    const uint64_t observations = uint64_t{into->observations} + from.observations;
    into->observations = static_cast<uint32_t>(
        std::min<uint64_t>(observations, std::numeric_limits<uint32_t>::max()));
    into->floor = std::max(into->floor, from.floor);
    into->largest = std::max(into->largest, from.largest);
    for (const uint32_t code : values) Keep(*into, code);
  }
}

uint64_t ExcessWindow::Observations() const {
  uint64_t sum = 0;
  for (const Day& day : Days()) sum += day.observations;
  return sum;
}

double ExcessWindow::Largest() const {
  double largest = 0;
  for (const Day& day : Days()) largest = std::max(largest, double{day.largest});
  return largest;
}

double ExcessWindow::Floor() const {
  double floor = 0;
  for (const Day& day : Days()) floor = std::max(floor, double{day.floor});
  return floor;
}

/// Ascending.
std::vector<double> ExcessWindow::KeptAbove(double threshold) const {
  std::vector<double> values;
  values.reserve(kept_.size());
  for (const uint32_t code : kept_) {
    const double value = ValueOf(code);
    if (value > threshold) values.push_back(value);
  }
  std::ranges::sort(values);
  return values;
}

}  // namespace tidemark::estimators
