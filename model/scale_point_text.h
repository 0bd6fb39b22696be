#pragma once
// What changed requests do to a HorizontalPodAutoscaler that looks at their utilisation, and what
// to set, in a sentence for people.

#include <string>

#include "model/scaling.h"

namespace tidemark {

/// E.g. "The HPA web aims at 50 % of the cpu that pods request: with the original requests it
/// scales at 1 a pod, with those of now at 325m, with the recommended ones at 325m; to keep it at 1
/// set AverageValue 1." `averageUtilization` is advised where it would be 30 to 90, so that there
/// is room above and below; else an AverageValue, which requests do not move. Never empty;
/// thread-safe.
std::string ScalePointText(const AutoscalerUtilization& target);

}  // namespace tidemark
