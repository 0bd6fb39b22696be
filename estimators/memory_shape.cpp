#include "estimators/memory_shape.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidemark::estimators {

namespace {

constexpr int32_t kHoursKept = 192;

/// The known hours, the oldest first. A gap is stepped over: nothing was measured, nothing is said.
std::vector<double> KnownHours(const HourRing& hours, int32_t count) {
  std::vector<double> levels;
  levels.reserve(static_cast<size_t>(count));
  for (int32_t back = count - 1; back >= 0; --back) {
    const LevelCode code = hours.CodeAt(hours.newest() - back);
    if (code != kUnknownLevel) levels.push_back(DecodeLevel(code));
  }
  return levels;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Whether four of five lie within `share` of the median.
bool AreAlike(const std::vector<double>& values, double share) {
  const double median = Median(values);
  const auto near = std::ranges::count_if(
      values, [&](double value) { return std::abs(value - median) <= share * median; });
  return 5 * static_cast<size_t>(near) >= 4 * values.size();
}

/// A climb from `first` to `last`, both of them in it.
struct Climb {
  size_t first = 0;
  size_t last = 0;
  bool ended = false;  // by a drop to less than 60 %

  size_t hours() const { return last - first; }
};

constexpr double kFallsBack = 0.97;
constexpr double kRestart = 0.6;

bool IsSteady(const std::vector<double>& levels, const Climb& climb) {
  const size_t least = climb.ended ? 24 : 48;
  const double from = levels[climb.first];
  const double whole = levels[climb.last] - from;
  if (climb.hours() < least || whole < 0.5 * from) return false;
  double before = from;
  for (size_t quarter = 1; quarter <= 4; ++quarter) {
    const double level = levels[climb.first + climb.hours() * quarter / 4];
    if (level - before < 0.1 * whole) return false;
    before = level;
  }
  return true;
}

std::vector<Climb> ClimbsOf(const std::vector<double>& levels) {
  std::vector<Climb> climbs;
  Climb climb;
  const auto end = [&](size_t next) {
    climb.ended = next < levels.size() && levels[next] < kRestart * levels[climb.last];
    climbs.push_back(climb);
    climb = {.first = next, .last = next};
  };
  for (size_t i = 1; i < levels.size(); ++i) {
    if (levels[i] < kFallsBack * levels[climb.last]) {
      end(i);
    } else if (levels[i] > levels[climb.last]) {
      climb.last = i;
    }
  }
  end(levels.size());
  return climbs;
}

MemoryShapeFound FindLeak(const HourRing& hours) {
  MemoryShapeFound found;
  const auto levels = KnownHours(hours, kHoursKept);
  if (levels.size() < 25) return found;
  for (const Climb& climb : ClimbsOf(levels)) {
    if (!IsSteady(levels, climb)) continue;
    found.shape = MemoryShape::kLeak;
    found.from = levels[climb.first];
    found.to = levels[climb.last];
    found.hours = static_cast<int32_t>(climb.hours());
    found.times += climb.ended ? 1 : 0;
    found.bytes_an_hour = (found.to - found.from) / found.hours;
  }
  return found;
}

MemoryShapeFound FindSawTooth(const HourRing& hours) {
  const auto levels = KnownHours(hours, 3 * kHoursOfADay);
  std::vector<double> tops;
  std::vector<double> lows;
  std::vector<double> between;
  size_t last = 0;
  size_t others = 0;
  size_t climbing = 0;
  for (size_t i = 1; i < levels.size(); ++i) {
    if (levels[i] > 0.8 * levels[i - 1]) {
      ++others;
      if (levels[i] >= kFallsBack * levels[i - 1]) ++climbing;
      continue;
    }
    if (!tops.empty()) between.push_back(static_cast<double>(i - last));
    tops.push_back(levels[i - 1]);
    lows.push_back(levels[i]);
    last = i;
  }
  if (tops.size() < 6 || 5 * climbing < 4 * others) return {};
  const double apart = Median(between);
  if (apart > 12 || !AreAlike(tops, 0.1) || !AreAlike(lows, 0.25)) return {};
  return {.shape = MemoryShape::kSawTooth,
          .from = Median(lows),
          .to = Median(tops),
          .hours = static_cast<int32_t>(apart),
          .times = static_cast<int32_t>(tops.size()),
          .bytes_an_hour = 0};
}

MemoryShapeFound FindAtLimit(const HourRing& hours, double limit) {
  const auto levels = KnownHours(hours, 2 * kHoursOfADay);
  const auto at_limit = static_cast<size_t>(
      std::ranges::count_if(levels, [&](double level) { return level >= 0.97 * limit; }));
  if (levels.size() < 24 || 10 * at_limit < 9 * levels.size()) return {};
  return {.shape = MemoryShape::kAtLimit,
          .from = 0,
          .to = Median(levels),
          .hours = static_cast<int32_t>(levels.size()),
          .times = 0,
          .bytes_an_hour = 0};
}

}  // namespace

MemoryShapeFound FindMemoryShape(const HourRing& hours, std::optional<double> limit_bytes) {
  if (hours.IsEmpty()) return {};
  if (limit_bytes && *limit_bytes > 0) {
    const auto found = FindAtLimit(hours, *limit_bytes);
    if (found.shape != MemoryShape::kNothingSpecial) return found;
  }
  const auto leak = FindLeak(hours);
  return leak.shape != MemoryShape::kNothingSpecial ? leak : FindSawTooth(hours);
}

std::string_view ToString(MemoryShape shape) {
  switch (shape) {
    case MemoryShape::kNothingSpecial: return "";
    case MemoryShape::kLeak: return "grows steadily between restarts: a leak?";
    case MemoryShape::kSawTooth: return "saw-tooth: heap that is collected";
    case MemoryShape::kAtLimit: return "at the limit, and stays there";
  }
  return "";
}

}  // namespace tidemark::estimators
