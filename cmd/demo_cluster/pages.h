#pragma once
// What the cluster's exporters show, as a page.

#include "cmd/demo_cluster/cluster.h"
#include "cmd/demo_cluster/page.h"

namespace tidemark::demo_cluster {

/// cAdvisor's families of all nodes, with the label `node` that a scrape of the kubelets attaches.
/// As on real nodes there are rows for containers, sandboxes (container="POD" on docker, none on
/// containerd), pods, slices and the whole node; labels that do not apply are empty.
void AppendCadvisorPage(const Cluster& cluster, Page& page);

/// kube-state-metrics' families (names and labels of v2.x, with pod labels allow-listed).
void AppendKubeStatePage(const Cluster& cluster, Page& page);

}  // namespace tidemark::demo_cluster
