#pragma once
// What the API server learns of the group before it asks for a metric. The same documents for ever:
// they need no data and are never empty (an empty list makes kubectl and helm fail in the whole
// cluster).
//
// Sources: k8s.io/kube-aggregator, pkg/apiserver/handler_discovery.go; k8s.io/apiserver,
// pkg/endpoints/discovery/aggregated.

#include <string>

#include "kubernetes/accept.h"
#include "model/http.h"

namespace tidemark::kubernetes {

/// GET /apis: all groups, in the form asked for, with ETag; 304 without a body where If-None-Match
/// has it.
HttpResponse GroupsAnswer(const HttpRequest& request, DiscoveryForm form);
/// GET /apis/external.metrics.k8s.io.
HttpResponse GroupAnswer();
/// GET /apis/external.metrics.k8s.io/v1beta1: the resources, one for each metric.
HttpResponse ResourcesAnswer();
/// GET /version.
HttpResponse VersionAnswer();

}  // namespace tidemark::kubernetes
