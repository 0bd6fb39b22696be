#pragma once
// The ways in which the labels of one metric may be named, as the live stream understands them too.
// Pure functions.

#include <optional>

#include "model/past.h"

namespace tidemark::backfill {

/// Moved aside by a scrape without honor_labels: exported_namespace and so on. These win.
PastMetric Exported(PastMetric metric);
/// As named in `metric`, without the series that Exported has.
PastMetric WithoutExported(PastMetric metric);
/// As kubelets before 1.16 named them; nothing when that is no other way.
std::optional<PastMetric> OldNames(const PastMetric& metric);

}  // namespace tidemark::backfill
