#pragma once
// What the histories say of the workloads of one namespace as they are now.
//
// Only what has changed is worked out anew; the rest is taken from the block published before.
// Levels that share histograms are put together here: the histories of their containers are merged
// when they are read, so that no container's own is lost.

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/node_sizes.h"
#include "engine/request_history.h"
#include "engine/request_steps.h"
#include "model/counters.h"
#include "model/explanation.h"
#include "model/snapshot.h"
#include "workloads/namespace_state.h"

namespace tidemark::engine {

/// Made for one look at one namespace; on the shard's thread. The history, the views and the
/// counters must outlive it.
class Advisor {
 public:
  /// `event_time_ms`: how far the namespace's time has come; kills age by it. `largest_node`: what
  /// the largest node of the cluster can give.
  Advisor(RequestHistory& history, std::span<const workloads::WorkloadView> views,
          int64_t event_time_ms, const NodeSize& largest_node, EngineCounters& counters);

  /// Advice for all workloads that have any, in the order of the views. `before`: what was said of
  /// the namespace last time, or null.
  std::vector<WorkloadAdvice> Advise(const NamespaceBlock* before);

  /// The same of one workload, with all steps. Changes nothing.
  WorkloadExplanation Explain(size_t view);

 private:
  /// Whose histories are read together: those of one workload (by its place) or, with kAll, of the
  /// namespace, that have this profile.
  using Group = std::pair<size_t, const Profile*>;
  using GroupKey = std::pair<Group, Resource>;
  static constexpr size_t kAll = SIZE_MAX;

  struct Inputs {
    RequestInputs inputs;
    UsageTrack::Reading reading;  // that the inputs point to
  };

  std::vector<std::vector<bool>> TakeChanges();
  static std::optional<Group> GroupOf(size_t view, const Profile& profile);
  const UsageTrack::Reading* ReadGroup(const Group& group, Resource resource);
  bool Read(size_t view, const workloads::ContainerView& container, Resource resource,
            UsageTrack::Reading& reading);
  void Gather(size_t view, const workloads::ContainerView& container, Resource resource,
              Inputs& out);
  const HighWaterReading& ReadGroupHighWater(const Group& group, Resource resource);
  void ReadHighWater(size_t view, const workloads::ContainerView& container, Resource resource,
                     Inputs& out);
  void SetShare(const workloads::WorkloadView& workload, const workloads::ContainerView& container,
                Resource resource, RequestInputs& inputs) const;
  bool HasAnything(const workloads::ContainerView& container, Resource resource) const;
  ResourceAdvice AdviseOne(size_t view, const workloads::ContainerView& container,
                           Resource resource);
  void ExplainResource(size_t view, const workloads::ContainerView& container, Resource resource,
                       ResourceExplanation& out);

  RequestHistory& history_;
  const std::span<const workloads::WorkloadView> views_;
  const int64_t event_time_ms_;
  const NodeSize largest_node_;
  EngineCounters& counters_;
  std::map<GroupKey, UsageTrack::Reading> groups_;
  std::map<GroupKey, HighWaterReading> group_marks_;
};

}  // namespace tidemark::engine
