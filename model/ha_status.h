#pragma once
// What is known of HA pairs of Prometheus servers that send the same series twice: who leads, what
// is shed. Made by the receiver, shown by the exporter.

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark {

/// One replica of a pair.
struct HaReplicaStatus {
  std::string replica;
  bool leads = false;
  int64_t last_received_ms = 0;  ///< wall clock, Unix time; 0 = never
  uint64_t samples_taken = 0;    ///< offered to the engine while it led
  uint64_t samples_shed = 0;     ///< set aside because another one led
};

/// The replicas that share the values of the cluster labels.
struct HaClusterStatus {
  std::string cluster;
  uint64_t failovers = 0;                 ///< changes of the leader, the first election not counted
  std::vector<HaReplicaStatus> replicas;  ///< sorted by name
};

/// Thread-safe.
class HaStatusReader {
 public:
  virtual ~HaStatusReader() = default;
  /// Sorted by cluster. Bounded: pairs and replicas have ceilings.
  virtual std::vector<HaClusterStatus> HaClusters() const = 0;
};

}  // namespace tidemark
