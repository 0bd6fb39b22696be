#pragma once
// The state of the simulated cluster: nodes, workloads, pods, containers. Plain values; cluster.h
// moves them.
//
// All `_ms` are Unix time on the wall clock. Rates belong to the step that runs now (one second),
// totals are those at its start, so that at any moment within the step a counter is total + rate ×
// seconds into the step.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/demo_cluster/catalog.h"

namespace tidemark::demo_cluster {

/// A counter that grows evenly within a step.
struct Meter {
  double total = 0;
  double rate = 0;  ///< per second of wall time

  double At(double seconds_into_step) const { return total + rate * seconds_into_step; }
  void FinishStep(double seconds) { total += rate * seconds; }
};

/// What the memory controller of a cgroup shows, in bytes.
struct Memory {
  double working_set = 0;
  double rss = 0;
  double cache = 0;

  Memory& operator+=(const Memory& other) {
    working_set += other.working_set;
    rss += other.rss;
    cache += other.cache;
    return *this;
  }
};

struct Termination {
  std::string_view reason;  ///< "OOMKilled", "Error", "Completed"; static storage
  int64_t time_ms = 0;
};

struct Container {
  const ContainerSpec* spec = nullptr;  ///< owned by the workload's spec
  std::string id;                       ///< 64 hexadecimal digits; a new one with each restart
  int64_t started_ms = 0;
  int restarts = 0;
  double leak_age = 0;  ///< simulated seconds of leaking behind it
  double cpu_noise = 0;
  double memory_noise = 0;
  bool out_of_memory = false;  ///< hit its limit in this step: dies at the step's end
  Meter cpu;                   ///< core-seconds
  Meter periods;               ///< CFS periods
  Meter throttled;             ///< CFS periods that were cut short
  Memory memory;
  std::optional<Termination> last_termination;
};

enum class Phase : uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };
inline constexpr std::array<std::string_view, 5> kPhaseNames = {"Pending", "Running", "Succeeded",
                                                                "Failed", "Unknown"};

/// Quality of service, by which the kubelet nests cgroups.
enum class Qos : uint8_t { kGuaranteed, kBurstable, kBestEffort };
inline constexpr size_t kQosCount = 3;

struct Pod {
  std::string name;
  std::string uid;
  std::string owner;  ///< name of the direct owner; empty for a bare pod
  std::string hash;   ///< pod-template-hash or controller-revision-hash; empty without one
  size_t node = 0;    ///< index into Cluster::nodes()
  Qos qos = Qos::kBurstable;
  Phase phase = Phase::kPending;
  int64_t created_ms = 0;
  int64_t runs_at_ms = 0;   ///< when the containers start
  int64_t ready_at_ms = 0;  ///< when it is (again) ready
  int64_t ends_at_ms = 0;   ///< batch only
  bool ready = false;
  std::string sandbox_id;
  Meter sandbox_cpu;
  Meter cpu;  ///< of the pod's cgroup: outlives its containers' restarts
  std::vector<Container> containers;
};

struct ReplicaSet {
  std::string name;
  std::string hash;
  int replicas = 0;
};

struct Workload {
  size_t index = 0;  ///< place in the catalogue
  WorkloadSpec spec;
  int replicas = 1;                      ///< wanted now
  std::string revision_hash;             ///< of kinds without ReplicaSets that have revisions
  std::vector<ReplicaSet> replica_sets;  ///< oldest first; the last one is the present version
  std::vector<Pod> pods;
  int64_t next_run_ms = 0;       ///< batch
  int64_t next_rollover_ms = 0;  ///< 0 = never
  int64_t next_swap_ms = 0;      ///< while versions are being exchanged
};

struct Node {
  NodeSpec spec;
  Meter system_cpu;                      ///< everything outside Kubernetes
  std::array<Meter, kQosCount> qos_cpu;  ///< pods by class; outlives the pods
  double system_memory = 0;              ///< bytes
  double requested_cores = 0;            ///< by the pods that are placed on it
};

}  // namespace tidemark::demo_cluster
