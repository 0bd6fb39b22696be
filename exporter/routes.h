#pragma once
// The paths that this room answers. GET (and so HEAD):
//
//   /                               plain page with links
//   /metrics                        text 0.0.4 or OpenMetrics 1.0, gzip when asked
//   /-/healthy  /-/ready            as Prometheus; ready answers 503 until the daemon is
//   /api/v1/recommendations         exporter/api.h
//   /api/v1/scaling                 exporter/scaling_json.h
//   /api/v1/workloads/*             exporter/workload_api.h
//   /api/v1/status/sources  /api/v1/status/buildinfo  /api/v1/status/config
//   /api/v1/status/runtimeinfo
// and those of exporter/backfill_api.h. POST and PUT, as Prometheus has it:
//
//   /-/reload                       200 when it took effect, else 500 and why not
//
// Until the daemon is ready, recommendations, scaling, workloads and sources are answered 503: what
// is not there yet must not look as if it did not exist.

#include <functional>
#include <string>
#include <vector>

#include "exporter/build_info.h"
#include "exporter/config_metrics.h"
#include "model/backfill.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/ha_status.h"
#include "model/http.h"
#include "model/kubernetes_counters.h"
#include "model/prices.h"
#include "model/profile.h"
#include "model/result.h"
#include "model/rightsizing.h"
#include "model/snapshot.h"
#include "model/workload_status.h"

namespace tidemark::exporter {

/// Where the answers come from. Whatever is referred to must outlive the routes and be thread-safe;
/// the functions are called on any thread, must not throw, and must not be empty but where it says
/// so.
struct Sources {
  const SnapshotReader& snapshots;
  const StateReader& state;
  const RemoteWriteCounters& remote_write;
  const HttpCounters& http;
  const EngineCounters& engine;
  const Clock& clock;
  BuildInfo build;
  TimePoint started;                         ///< when the daemon was, by `clock`
  std::string storage_path;                  ///< as configured
  std::function<std::string()> config_yaml;  ///< the configuration in force, secrets left out
  std::function<bool()> ready;               ///< recovery is done, and nobody has said stop
  const HaStatusReader* ha = nullptr;        ///< absent: no HA pairs are followed
  const StorageCounters* storage = nullptr;  ///< absent: nothing is kept on disk
  BackfillControl* backfill = nullptr;       ///< both or none: absent, no history is filled in
  const BackfillCounters* backfill_counters = nullptr;
  std::function<ConfigStatus()> config_status = nullptr;  ///< empty: no lines
  /// Reads the configuration again. kUnavailable is answered 503, other errors 500. Empty: the
  /// path is not there.
  std::function<Result<void>()> reload = nullptr;
  /// Whether /metrics has those of vpa_metrics.h, too; may be empty: no.
  std::function<bool()> vpa_metrics = nullptr;
  /// By which savings are worked out; may be empty: none are known.
  std::function<Prices()> prices = nullptr;
  const TrainingCounters* training = nullptr;  ///< absent: nothing is trained
  /// Of the Kubernetes port and of its server; absent: there is none.
  const KubernetesCounters* kubernetes = nullptr;
  const HttpCounters* kubernetes_http = nullptr;
  /// Those in force, for POST /api/v1/rightsize; both or none: the path is not there.
  std::function<ProfileSetPtr()> profiles = nullptr;
  std::function<RightsizingSettingsPtr()> rightsizing = nullptr;
};

/// The routing table. Handlers are thread-safe and share one cache of rendered namespaces.
std::vector<HttpRoute> Routes(Sources sources);

}  // namespace tidemark::exporter
