#pragma once
// The forms in which values go out: the list that an HPA reads, the table that kubectl shows.

#include <cstdint>
#include <string>
#include <vector>

#include "kubernetes/accept.h"
#include "kubernetes/freshness.h"
#include "kubernetes/metric_points.h"
#include "model/http.h"
#include "model/result.h"

namespace tidemark::kubernetes {

/// ExternalMetricValueList of one item. kUnavailable, naming the value, where the point's is none
/// that a quantity can be made of (NaN, negative). `age` other than kFresh is marked by the label
/// stale="true". Source: k8s.io/metrics, pkg/apis/external_metrics/v1beta1/types.go.
Result<HttpResponse> ListAnswer(ExternalMetric metric, const MetricPoint& point, Age age);

/// meta.k8s.io Table, v1 or as `form` says; values too old, or missing, are empty cells, and the
/// sentence says why. Any number of points.
HttpResponse TableAnswer(ExternalMetric metric, MetricForm form,
                         const std::vector<MetricPoint>& points, const Freshness& freshness,
                         int64_t now_ms);

}  // namespace tidemark::kubernetes
