#pragma once
// `tidetool demo-cluster`: serves the metrics of a small simulated cluster.

#include <chrono>
#include <cstdint>
#include <string>

namespace tidemark::demo_cluster {

struct DemoClusterOptions {
  std::string listen_address = "127.0.0.1:9850";  ///< host:port; port 0 = any free one
  uint64_t seed = 1;                              ///< another seed, another cluster
  /// Simulated seconds per second, above 0 and at most 1000: daily waves, leaks, new versions and
  /// runs of CronJobs come that much faster. Counters still grow by usage × wall-clock seconds, so
  /// that rates stay true.
  double speed = 1;
  /// Where to write what the cluster's past looked like to a Prometheus that scraped it (jobs
  /// cadvisor and kube-state-metrics, the listen address as instance); the served cluster goes on
  /// where it ends. Empty: none.
  std::string history_file;
  std::chrono::milliseconds history_length = std::chrono::days(8);  ///< above 0
  std::chrono::minutes history_step{5};  ///< between two samples, at least 1
};

/// Writes the history, if one is wanted, then serves until SIGINT or SIGTERM. Returns the program's
/// exit code: 0, 1 when the file cannot be written or the address cannot be listened on, 2 for an
/// option that makes no sense (a line is logged). Call it from the main thread before others are
/// started: the two signals are blocked meanwhile.
int RunDemoCluster(const DemoClusterOptions& options);

}  // namespace tidemark::demo_cluster
