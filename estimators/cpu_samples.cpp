#include "estimators/cpu_samples.h"

namespace tidemark::estimators {

bool CpuSamples::AddSample(DecayingHistogram& histogram, Time time, double cores, double weight) {
  if (!(cores >= 0)) return false;  // also NaN
  if (const auto last = span_.Last(); last && time <= *last) return false;
  if (!histogram.Add(cores, weight, time)) return false;
  span_.Record(time);
  return true;
}

}  // namespace tidemark::estimators
