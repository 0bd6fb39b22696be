#pragma once
// The Kubernetes port as tidemark_kubernetes_*: what was answered, who was not let in, until when
// the certificate is good.

#include "exporter/exposition.h"
#include "model/counters.h"
#include "model/kubernetes_counters.h"

namespace tidemark::exporter {

/// Appends the families, about thirty lines. `http`: of the port's own server. Thread-safe.
void AppendKubernetesMetrics(const KubernetesCounters& counters, const HttpCounters& http,
                             ExpositionWriter& writer);

}  // namespace tidemark::exporter
