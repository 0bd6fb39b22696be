#pragma once
// The routes of the Kubernetes port: external.metrics.k8s.io, the admission webhook, probes.

#include <functional>
#include <vector>

#include "kubernetes/authenticator.h"
#include "kubernetes/settings.h"
#include "model/clock.h"
#include "model/http.h"
#include "model/kubernetes_counters.h"
#include "model/profile.h"
#include "model/rightsizing.h"
#include "model/snapshot.h"

namespace tidemark::kubernetes {

/// What the port shows and by what. References must outlive the routes.
struct Sources {
  const SnapshotReader& snapshots;
  const Clock& clock;
  const Authenticator& authenticator;
  KubernetesCounters& counters;
  /// Those in force; asked for each request.
  std::function<Settings()> settings;
  std::function<RightsizingSettingsPtr()> rightsizing;
  std::function<ProfileSetPtr()> profiles;
  /// Whether state is recovered. Until then discovery is served all the same (an APIService that is
  /// not available holds up the whole cluster's namespaces), and metrics are 503.
  std::function<bool()> ready;
};

/// For a server of their own, HTTPS only. Among them one for everything else ("/*", all methods),
/// so that whatever is asked is answered as Kubernetes answers: a Status, never Retry-After.
std::vector<HttpRoute> Routes(const Sources& sources);

}  // namespace tidemark::kubernetes
