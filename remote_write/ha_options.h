#pragma once
// How copies of an HA pair are told, from the configuration (`remote_write.ha:`).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::remote_write {

struct HaOptions {
  /// Servers that agree in the values of all of these are one pair. An absent label counts as
  /// empty. The labels stay on the series.
  std::vector<std::string> cluster_labels = {"cluster"};
  /// The first of these that a series carries names its replica; all of them are taken off the
  /// series. Empty: copies are not told apart and nothing is shed.
  std::vector<std::string> replica_labels = {"__replica__"};
  /// For how long nothing may come from the leader before another replica takes over. As Mimir's
  /// ha_tracker_failover_timeout.
  int64_t failover_timeout_ms = 30'000;
  size_t max_clusters = 1000;  ///< pairs that are followed
  size_t max_replicas = 16;    ///< of one pair; at least 2
};

}  // namespace tidemark::remote_write
