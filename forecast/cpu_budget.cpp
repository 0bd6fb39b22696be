#include "forecast/cpu_budget.h"

#include <algorithm>

namespace tidemark::forecast {

void CpuBudget::Spend(double seconds, double ratio, double now) {
  const double paid = ratio * std::max(0.0, now - settled_);
  settled_ = now;
  debt_ = std::max(0.0, debt_ + seconds - paid);
}

double CpuBudget::IdleFor(double ratio, double now) {
  if (ratio <= 0) return kMostIdle;
  Spend(0, ratio, now);
  const double idle = debt_ / ratio;
  return idle < kLeastIdle ? 0 : std::min(idle, kMostIdle);
}

}  // namespace tidemark::forecast
