#pragma once
// The cluster whose load is made up: namespaces, Deployments, ReplicaSets, pods and containers, and
// the series that cAdvisor and kube-state-metrics have of them, out of what
// deploy/prometheus/remote-write.yaml keeps.
//
// Per container six series of cAdvisor (10 to 13 labels; on every second node the agent drops `id`
// and `name`), requests and limits of kube-state-metrics; per pod owner, start time and the two end
// phases; per Deployment replicas and the ReplicaSet's owner. They come in the order of a scrape:
// target by target, and there metric by metric.
//
// Deterministic by seed. Not thread-safe. About 700 bytes a series.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cmd/loadgen/series.h"

namespace tidemark::loadgen {

struct ClusterOptions {
  size_t containers = 1000;
  size_t series = 0;  ///< where set: as many containers as stay within that many series
  uint64_t seed = 1;
  int64_t start_ms = 0;  ///< sample time of the first round
  int64_t interval_ms = 15'000;
  double churn_per_hour = 0;
};

class LoadCluster {
 public:
  explicit LoadCluster(const ClusterOptions& options);

  /// All series of the round at hand. A pod that goes shows its stale markers for one round; its
  /// successor's series then take their places.
  const std::vector<LoadSeries>& series() const { return series_; }
  size_t containers() const { return containers_; }
  size_t pods() const { return pods_.size(); }
  uint64_t pods_replaced() const { return replaced_; }
  /// The places in series() whose labels the last NextRound changed.
  const std::vector<uint32_t>& changed() const { return changed_; }

  /// One interval later.
  void NextRound();

 private:
  struct Deployment {
    std::string name_space;
    std::string name;
    std::string replicaset;
    uint32_t replicas = 0;
    uint32_t containers = 0;
  };
  struct Pod {
    uint32_t deployment = 0;
    uint32_t ordinal = 0;
    uint32_t node = 0;
    uint32_t generation = 0;
    std::vector<uint32_t> places;  ///< in series_, in the order of AppendPod
  };

  void AppendPod(const Pod& pod, std::vector<LoadSeries>& out) const;
  void AppendDeployment(const Deployment& deployment, std::vector<LoadSeries>& out) const;
  /// Series and whose they are: a pod's number, or of no pod.
  using Made = std::vector<std::pair<uint32_t, LoadSeries>>;
  bool AddPod(size_t deployment, uint32_t ordinal, Made& made);
  void Place(Made made);
  Deployment MakeDeployment(size_t index) const;

  const ClusterOptions options_;
  int64_t now_ms_;
  std::vector<Deployment> deployments_;
  std::vector<Pod> pods_;
  std::vector<LoadSeries> series_;
  size_t containers_ = 0;
  uint64_t replaced_ = 0;
  double due_ = 0;         // pods to replace, not whole yet
  size_t next_churn_ = 0;  // pod that goes next
  std::vector<uint32_t> going_;
  std::vector<uint32_t> changed_;
};

}  // namespace tidemark::loadgen
