#pragma once
// pod → ReplicaSet → Deployment, pod → Job → CronJob, pod → anything else as it is named.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/label.h"

namespace tidemark::workloads {

/// An owner reference as kube-state-metrics tells it. An empty kind means "has no owner".
struct Owner {
  std::string kind;
  std::string name;
  friend bool operator==(const Owner&, const Owner&) = default;
};

/// Reads owner_kind and owner_name. Old versions of kube-state-metrics write "<none>" for no owner.
Owner OwnerFrom(LabelsView labels);

/// Which workload a pod counts for.
struct ResolvedOwner {
  std::string workload_type;  ///< lower case
  std::string workload;
  bool assumed = false;  ///< by the fallback rule, since a link of the chain has not been seen
};

/// The links of one namespace above its pods.
class OwnerGraph {
 public:
  /// What kube_replicaset_owner or kube_job_owner says; `series` owns the entry.
  void SetReplicaSetOwner(std::string_view replicaset, Owner owner, uint32_t series);
  void SetJobOwner(std::string_view job, Owner owner, uint32_t series);
  /// The series is gone: so are the entries that it still owns.
  void ForgetReplicaSet(std::string_view replicaset, uint32_t series);
  void ForgetJob(std::string_view job, uint32_t series);

  /// What `series` says of a ReplicaSet or Job; null unless the entry is its own.
  const Owner* ReplicaSetOwnerBy(std::string_view replicaset, uint32_t series) const;
  const Owner* JobOwnerBy(std::string_view job, uint32_t series) const;
  /// As SetReplicaSetOwner and SetJobOwner, but false, and nothing changed, when there is an entry.
  bool AddReplicaSetOwner(std::string_view replicaset, Owner owner, uint32_t series);
  bool AddJobOwner(std::string_view job, Owner owner, uint32_t series);

  /// The workload of a pod with this owner. nullopt while a link is missing and `waited` is false;
  /// then the fallback: a ReplicaSet's name less the pod-template-hash (a Deployment), else the
  /// direct owner. Types follow kubernetes-mixin: no owner = barepod, owner Node = staticpod; any
  /// other kind in lower case.
  std::optional<ResolvedOwner> Resolve(const Owner& owner, std::string_view pod, bool waited) const;

 private:
  struct Entry {
    Owner owner;
    uint32_t series;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  static const Owner* OwnerBy(const Entries& entries, std::string_view name, uint32_t series);
  static std::optional<ResolvedOwner> ResolveThrough(const Entries& entries, const Owner& owner);

  Entries replicasets_;
  Entries jobs_;
};

/// `web` for `web-5c9f7b6d4`; empty when the name does not end in something like a
/// pod-template-hash.
std::string_view WithoutTemplateHash(std::string_view replicaset);

}  // namespace tidemark::workloads
