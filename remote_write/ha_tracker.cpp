#include "remote_write/ha_tracker.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "model/log.h"
#include "remote_write/utf8.h"

namespace tidemark::remote_write {
namespace {

constexpr size_t kMaxLoggedName = 128;
/// Changes of leaders that are logged in a minute, of each kind, at most: whoever writes can name
/// thousands of pairs. The metrics tell of all.
constexpr size_t kLogSlots = 32;

/// A change of the leader, to be told once the lock is free.
struct Change {
  std::string cluster;
  std::string from;  // empty: the first election
  std::string to;
  int64_t silent_ms = 0;
};

void Tell(const Change& change) {
  const std::string cluster = Printable(change.cluster, kMaxLoggedName);
  const std::string to = Printable(change.to, kMaxLoggedName);
  const size_t slot = std::hash<std::string>{}(change.cluster) % kLogSlots;
  if (change.from.empty()) {
    LogOncePerMinute("ha_leader_" + std::to_string(slot), LogLevel::kInfo, "HA pair has a leader",
                     {{"ha_cluster", cluster}, {"replica", to}});
    return;
  }
  LogOncePerMinute("ha_failover_" + std::to_string(slot), LogLevel::kWarn, "HA pair failed over",
                   {{"ha_cluster", cluster},
                    {"from", Printable(change.from, kMaxLoggedName)},
                    {"to", to},
                    {"leader_silent_ms", std::to_string(change.silent_ms)}});
}

}  // namespace

struct HaTracker::Replica {
  std::string_view name;  // the key of its map
  uint64_t taken = 0;
  uint64_t shed = 0;
  int64_t last_received_ms = 0;
  uint32_t under_way = 0;  // requests that have a seat
};

struct HaTracker::Cluster {
  std::string_view name;  // the key of its map
  std::map<std::string, Replica, std::less<>> replicas;
  Replica* leader = nullptr;
  int64_t leader_taken_ms = 0;  // arrival of its newest request that was applied
  uint64_t failovers = 0;

  Replica* claimant = nullptr;
  uint64_t claim = 0;             // number of the claim; counts up
  uint32_t claims_under_way = 0;  // requests that are part of it

  /// Brings times that lie ahead back to now, after the clock went back; else they would keep
  /// their places until it has caught up.
  void ClampTo(int64_t now_ms) {
    for (auto& [key, replica] : replicas) {
      replica.last_received_ms = std::min(replica.last_received_ms, now_ms);
    }
  }
  int64_t LastReceivedMs() const {
    int64_t newest_ms = std::numeric_limits<int64_t>::min();
    for (const auto& [key, replica] : replicas) {
      newest_ms = std::max(newest_ms, replica.last_received_ms);
    }
    return newest_ms;
  }
  bool IsUnderWay() const {
    return std::any_of(replicas.begin(), replicas.end(),
                       [](const auto& entry) { return entry.second.under_way > 0; });
  }
};

HaTracker::HaTracker(HaOptions options) : options_(std::move(options)) {}
HaTracker::~HaTracker() = default;

HaTracker::Seat HaTracker::Decide(std::string_view cluster_name, std::string_view replica_name,
                                  int64_t now_ms) {
  if (cluster_name.size() > kMaxNameBytes || replica_name.size() > kMaxNameBytes) return {};
  const std::scoped_lock lock(mutex_);
  Cluster* const cluster = ClusterNamed(cluster_name, now_ms);
  if (cluster == nullptr) return {};
  Replica* const replica = ReplicaNamed(*cluster, replica_name, now_ms);
  if (replica == nullptr) return {};
  replica->last_received_ms = now_ms;
  ++replica->under_way;

  Seat seat{HaDecision::kShed, cluster, replica, 0};
  // The clock went back, or requests overtake one another by a moment.
  cluster->leader_taken_ms = std::min(cluster->leader_taken_ms, now_ms);
  if (cluster->claimant == nullptr) {
    const bool vacant = cluster->leader == nullptr ||
                        now_ms - cluster->leader_taken_ms >= options_.failover_timeout_ms;
    if (replica == cluster->leader) {
      seat.decision = HaDecision::kTake;
    } else if (vacant) {
      cluster->claimant = replica;
      ++cluster->claim;
    }
  }
  if (replica == cluster->claimant) {
    seat.decision = HaDecision::kTake;
    seat.claim = cluster->claim;
    ++cluster->claims_under_way;
  }
  return seat;
}

void HaTracker::Settle(const Seat& seat, int64_t arrival_ms, const Outcome& outcome) {
  std::optional<Change> change;
  {
    const std::scoped_lock lock(mutex_);
    Cluster& cluster = *seat.cluster;
    Replica& replica = *seat.replica;
    --replica.under_way;
    if (outcome.answered) {
      replica.taken += outcome.taken;
      replica.shed += outcome.shed;
    }
    const bool in_claim = cluster.claimant == &replica && cluster.claim == seat.claim;
    if (in_claim) --cluster.claims_under_way;
    if (outcome.answered && outcome.applied && outcome.taken > 0) {
      if (in_claim) {
        change = Change{std::string(cluster.name), "", std::string(replica.name), 0};
        if (cluster.leader != nullptr) {
          ++cluster.failovers;
          change->from = cluster.leader->name;
          change->silent_ms = arrival_ms - cluster.leader_taken_ms;
        }
        cluster.leader = &replica;
        cluster.leader_taken_ms = arrival_ms;
        cluster.claimant = nullptr;
        cluster.claims_under_way = 0;
      } else if (cluster.leader == &replica) {
        cluster.leader_taken_ms = std::max(cluster.leader_taken_ms, arrival_ms);
      }
    } else if (in_claim && cluster.claims_under_way == 0) {
      cluster.claimant = nullptr;
    }
  }
  if (change) Tell(*change);
}

HaTracker::Cluster* HaTracker::ClusterNamed(std::string_view name, int64_t now_ms) {
  auto found = clusters_.find(name);
  if (found == clusters_.end()) {
    if (clusters_.size() >= options_.max_clusters) ForgetSilent(now_ms);
    if (clusters_.size() >= options_.max_clusters) return nullptr;
    found = clusters_.try_emplace(std::string(name)).first;
    found->second.name = found->first;
  }
  return &found->second;
}

HaTracker::Replica* HaTracker::ReplicaNamed(Cluster& cluster, std::string_view name,
                                            int64_t now_ms) const {
  auto& replicas = cluster.replicas;
  auto found = replicas.find(name);
  if (found == replicas.end()) {
    if (replicas.size() >= options_.max_replicas) {
      cluster.ClampTo(now_ms);
      std::erase_if(replicas, [&](const auto& entry) {
        const Replica& replica = entry.second;
        return replica.under_way == 0 && &replica != cluster.leader &&
               now_ms - replica.last_received_ms >= kForgetMs;
      });
    }
    if (replicas.size() >= options_.max_replicas) return nullptr;
    found = replicas.try_emplace(std::string(name)).first;
    found->second.name = found->first;
  }
  return &found->second;
}

void HaTracker::ForgetSilent(int64_t now_ms) {
  if (now_ms >= looked_ms_ && now_ms < look_again_ms_) return;
  int64_t oldest_ms = now_ms;
  for (auto entry = clusters_.begin(); entry != clusters_.end();) {
    Cluster& cluster = entry->second;
    cluster.ClampTo(now_ms);
    const int64_t last_ms = cluster.LastReceivedMs();
    if (!cluster.IsUnderWay() && now_ms - last_ms >= kForgetMs) {
      entry = clusters_.erase(entry);
      continue;
    }
    oldest_ms = std::min(oldest_ms, last_ms);
    ++entry;
  }
  looked_ms_ = now_ms;
  look_again_ms_ = oldest_ms + kForgetMs;
}

std::vector<HaClusterStatus> HaTracker::HaClusters() const {
  std::vector<HaClusterStatus> all;
  const std::scoped_lock lock(mutex_);
  all.reserve(clusters_.size());
  for (const auto& [name, cluster] : clusters_) {
    HaClusterStatus& status = all.emplace_back();
    status.cluster = name;
    status.failovers = cluster.failovers;
    for (const auto& [replica_name, replica] : cluster.replicas) {
      status.replicas.push_back({.replica = replica_name,
                                 .leads = &replica == cluster.leader,
                                 .last_received_ms = replica.last_received_ms,
                                 .samples_taken = replica.taken,
                                 .samples_shed = replica.shed});
    }
  }
  return all;
}

}  // namespace tidemark::remote_write
