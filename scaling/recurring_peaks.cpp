#include "scaling/recurring_peaks.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tidemark::scaling {
namespace {

constexpr int64_t kDayMinutes = 1440;
constexpr int64_t kLevelMinutes = 5;  // over which now and then are compared
constexpr double kFirstChance = 0.3;
constexpr double kFirstWeight = 2;  // as if it had been seen so often
constexpr float kForgetting = 1 / 50.0F;

/// Mean demand of the kLevelMinutes up to `minute`; NaN without any.
double LevelAt(const forecast::DemandHistory& history, int64_t minute) {
  double sum = 0;
  int known = 0;
  for (int64_t back = 0; back < kLevelMinutes; ++back) {
    const double demand = double{history.At(minute - back)};
    if (std::isnan(demand)) continue;
    sum += demand;
    ++known;
  }
  return sum / known;
}

}  // namespace

double RecurringPeaks::Found::Highest() const {
  double highest = 0;
  for (size_t i = 0; i < days; ++i) highest = std::max(highest, demand[i]);
  return highest;
}

RecurringPeaks::Found RecurringPeaks::Find(const forecast::DemandHistory& history, int64_t minute,
                                           LeadMinutesAhead ahead, double above) {
  Found found;
  if (history.step_minutes() != 1 || minute - kDayMinutes < history.oldest()) return found;
  const double level = LevelAt(history, minute);
  for (size_t day = 1; day <= kMostDays; ++day) {
    const int64_t then = minute - static_cast<int64_t>(day) * kDayMinutes;
    if (then < history.oldest()) break;
    double highest = -1;
    for (int32_t minutes = ahead.first; minutes <= ahead.last; ++minutes) {
      const double demand = double{history.At(then + minutes)};
      if (demand > highest) highest = demand;
    }
    if (highest < 0) continue;  // not known
    const double moved = highest + level - LevelAt(history, then);
    if (moved > above) found.demand[found.days++] = moved;  // not where a level is NaN
  }
  return found;
}

double RecurringPeaks::Chance(size_t days) const {
  const size_t kind = KindOf(days);
  return (double{came_[kind]} + kFirstChance * kFirstWeight) / (double{seen_[kind]} + kFirstWeight);
}

void RecurringPeaks::Note(size_t days, bool came) {
  const size_t kind = KindOf(days);
  seen_[kind] += 1 - kForgetting * seen_[kind];
  came_[kind] += (came ? 1.0F : 0.0F) - kForgetting * came_[kind];
}

void RecurringPeaks::Save(ByteWriter& out) const {
  for (size_t kind = 0; kind < kKinds; ++kind) {
    out.Fixed32(std::bit_cast<uint32_t>(came_[kind]));
    out.Fixed32(std::bit_cast<uint32_t>(seen_[kind]));
  }
}

void RecurringPeaks::Restore(ByteReader& in) {
  constexpr float kMost = 1.01F / kForgetting;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    came_[kind] = std::bit_cast<float>(in.Fixed32());
    seen_[kind] = std::bit_cast<float>(in.Fixed32());
    if (!(came_[kind] >= 0 && came_[kind] <= seen_[kind] * 1.001F && seen_[kind] <= kMost)) {
      in.Fail();
    }
  }
  if (in.failed()) *this = RecurringPeaks();
}

}  // namespace tidemark::scaling
