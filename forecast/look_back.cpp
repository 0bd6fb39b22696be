#include "forecast/look_back.h"

#include <cmath>

namespace tidemark::forecast {

bool ReadLookBack(const DemandHistory& history, int64_t now, std::span<float> out) {
  history.Window(now, out);
  const int64_t first = now - static_cast<int64_t>(out.size()) + 1;
  std::optional<float> before;  // the last that is known
  int64_t missing = 0;          // minutes since
  for (int64_t back = 1; back <= kBridgedMinutes && !before; ++back) {
    const float value = history.At(first - back);
    if (!std::isnan(value)) before = value;
    missing = back - 1;
  }
  for (float& value : out) {
    if (!std::isnan(value)) {
      before = value;
      missing = 0;
      continue;
    }
    if (!before || ++missing > kBridgedMinutes) return false;
    value = *before;
  }
  return true;
}

std::optional<double> ReadLast(const DemandHistory& history, int64_t now) {
  for (int64_t minute = now; minute >= now - kBridgedMinutes; --minute) {
    const float value = history.At(minute);
    if (!std::isnan(value)) return double{value};
  }
  return std::nullopt;
}

}  // namespace tidemark::forecast
