#pragma once
// Batches of one namespace such as a busy and untidy cluster sends them: pods that come, restart
// and vanish, owners that come late, change or never come, two exporters of the same thing, HA
// copies, resends, kills, samples that are late or make no sense, silence of hours and days.

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/sample.h"

namespace tidemark::testing {

struct TrafficSeries {
  std::string label_bytes;
  std::vector<Sample> samples;
  bool from_ha_pair = false;
};

struct TrafficBatch {
  int64_t arrival_ms = 0;
  std::vector<TrafficSeries> series;
};

struct TrafficOptions {
  int deployments = 4;
  int pods = 3;              ///< of each
  int64_t step_ms = 30'000;  ///< between two batches
  bool silences = true;      ///< of hours and days, now and then
  int64_t begin_ms = 1'700'000'040'000;
};

/// The same seed gives the same batches.
class RandomTraffic {
 public:
  explicit RandomTraffic(uint32_t seed, TrafficOptions options = {});
  TrafficBatch Next();
  int64_t now_ms() const { return now_ms_; }

 private:
  using Labels = std::map<std::string, std::string>;
  struct SimulatedPod {
    std::string name;
    std::string replicaset;
    std::string deployment;
    std::string uid;
    int64_t born_ms = 0;
    int64_t owner_ms = 0;  // when its owner is told; 0: never
    int run = 0;
    double spent = 0;  // core-seconds
    bool by_core = false;
    bool second_exporter = false;
    bool gpu = false;
    bool done = false;
    int restarts = 0;
    bool out_of_memory = false;  // the last of them
    int64_t terminated_ms = 0;   // likewise; 0: none yet
    bool all_reasons = false;    // as kube-state-metrics 1.x told them
    bool has_time = true;
    bool annotated = false;
    int64_t ready_ms = 0;  // when it is ready for the first time
    bool has_ready_time = false;
    bool is_throttled = false;
    std::map<std::string, Labels> told;  // by their bytes
  };

  int64_t Pick(int64_t from, int64_t to);
  bool Chance(int in);
  double Noise();
  SimulatedPod NewPod(int deployment);
  void Tell(TrafficBatch& batch, SimulatedPod* pod, Labels labels, double value,
            int64_t start_ms = 0);
  void Usage(TrafficBatch& batch, SimulatedPod& pod, const std::string& container);
  void State(TrafficBatch& batch, SimulatedPod& pod);
  void Kills(TrafficBatch& batch, SimulatedPod& pod);
  void Described(TrafficBatch& batch, SimulatedPod& pod);
  void Readiness(TrafficBatch& batch, SimulatedPod& pod);
  void Autoscalers(TrafficBatch& batch);
  void Others(TrafficBatch& batch);
  void Disturb(TrafficBatch& batch);

  std::mt19937 random_;
  const TrafficOptions options_;
  int64_t now_ms_;
  int made_ = 0;
  std::vector<int> generation_;  // of each deployment's ReplicaSet
  std::vector<bool> scaled_;     // whether its replicas are told
  std::vector<SimulatedPod> pods_;
  TrafficBatch last_;
};

}  // namespace tidemark::testing
