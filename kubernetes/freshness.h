#pragma once
// Until when a value is given back, by its age.

#include <cstdint>
#include <string>

#include "kubernetes/metric_points.h"
#include "kubernetes/settings.h"

namespace tidemark::kubernetes {

enum class Age : uint8_t { kFresh, kHeld, kTooOld };

/// Of a point that has a value. What does not follow load is always fresh. A time in the future is
/// as good as now. Source: docs/external-metrics.md, "Freshness".
Age AgeOf(const MetricPoint& point, const Freshness& freshness, int64_t now_ms);

/// "7m12s", "45s", "1h0m0s": whole seconds, rounded down; negative is "0s".
std::string DurationText(int64_t duration_ms);

}  // namespace tidemark::kubernetes
