#include "model/clock.h"

namespace tidemark {

SystemClock::SystemClock(std::optional<TimePoint> start)
    : start_(start), made_at_(std::chrono::steady_clock::now()) {}

TimePoint SystemClock::Now() const {
  using std::chrono::milliseconds;
  if (start_) {
    return *start_ +
           std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - made_at_);
  }
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

}  // namespace tidemark
