#pragma once
// Who leads each HA pair of Prometheus servers.
//
// The servers of a pair scrape and send the same; one of them is taken in, the others' copies are
// shed. This follows the HA tracker of Grafana Mimir (pkg/distributor/ha_tracker.go, "elected
// replica" and "failover timeout"), without its heartbeats in a shared store: here one process
// decides alone.
//
//   - The first replica whose samples are applied leads. It goes on to lead as long as samples of
//     it are applied.
//   - Another one leads once samples of it are applied after none of the leader's were for the
//     failover timeout. Until its request is applied it only claims the lead, and the claim falls
//     with the request. So a request that is answered 503 changes no leader, and two replicas that
//     race are never both taken.
//   - A leader of which nothing can be applied (all refused) is silent like a dead one.
//   - Time is the wall clock at a request's arrival. When the clock goes back, the leader's last
//     time goes back with it: at worst a failover takes one timeout longer.
//
// What is true of the samples themselves, that a new leader's count only from where the old one's
// ended, is the engine's part (IncomingSeries::from_ha_pair): samples of the old leader may still
// be on their way in when the new one's come.
//
// Bounds: max_clusters pairs, max_replicas each, names of at most kMaxNameBytes. What has been
// silent for kForgetMs makes room for what is new; when nothing has, what is new is refused.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "model/ha_status.h"
#include "remote_write/ha_options.h"

namespace tidemark::remote_write {

enum class HaDecision : uint8_t {
  kTake,    ///< the replica leads, or claims the lead
  kShed,    ///< another one leads
  kRefuse,  ///< a new pair or replica beyond the ceilings
};

/// Thread-safe.
class HaTracker final : public HaStatusReader {
 public:
  /// Of a pair's name, and of a replica's. Whatever is longer is refused.
  static constexpr size_t kMaxNameBytes = 1024;
  /// How long a pair or a replica is kept in any case after its last request.
  static constexpr int64_t kForgetMs = 3'600'000;

  explicit HaTracker(HaOptions options);
  ~HaTracker() override;
  HaTracker(const HaTracker&) = delete;
  HaTracker& operator=(const HaTracker&) = delete;

  const HaOptions& options() const { return options_; }
  std::vector<HaClusterStatus> HaClusters() const override;

 private:
  friend class HaRequest;
  struct Replica;
  struct Cluster;

  /// A replica's part in one request. Neither it nor its pair is forgotten before Settle.
  struct Seat {
    HaDecision decision = HaDecision::kRefuse;
    Cluster* cluster = nullptr;  ///< null when refused
    Replica* replica = nullptr;
    uint64_t claim = 0;  ///< the claim that the request is part of; 0: none
  };
  /// What became of a replica's samples in one request.
  struct Outcome {
    bool answered = false;  ///< for good; false after a 5xx: the samples come again
    bool applied = false;   ///< the engine has taken samples of the request in
    uint64_t taken = 0;
    uint64_t shed = 0;
  };

  Seat Decide(std::string_view cluster, std::string_view replica, int64_t now_ms);
  void Settle(const Seat& seat, int64_t arrival_ms, const Outcome& outcome);

  Cluster* ClusterNamed(std::string_view name, int64_t now_ms);
  Replica* ReplicaNamed(Cluster& cluster, std::string_view name, int64_t now_ms) const;
  void ForgetSilent(int64_t now_ms);

  const HaOptions options_;
  mutable std::mutex mutex_;  // guards what follows, and what it points to
  std::map<std::string, Cluster, std::less<>> clusters_;
  // While all places are taken: when a look for silent pairs was last in vain, and when the first
  // can pay. So that a body full of new pairs costs one look.
  int64_t looked_ms_ = 0;
  int64_t look_again_ms_ = 0;
};

}  // namespace tidemark::remote_write
