#include "workloads/owner_graph.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tidemark::workloads {
namespace {

constexpr size_t kMaxTemplateHash =
    10;  // a 32-bit hash in decimal, safe-encoded (kubernetes/pkg/controller)

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

Owner OwnerFrom(LabelsView labels) {
  const std::string_view kind = FindLabel(labels, "owner_kind");
  const std::string_view name = FindLabel(labels, "owner_name");
  if (kind.empty() || name.empty() || kind == "<none>") return {};
  return {std::string(kind), std::string(name)};
}

void OwnerGraph::SetReplicaSetOwner(std::string_view replicaset, Owner owner, uint32_t series) {
  replicasets_.insert_or_assign(std::string(replicaset), Entry{std::move(owner), series});
}

void OwnerGraph::SetJobOwner(std::string_view job, Owner owner, uint32_t series) {
  jobs_.insert_or_assign(std::string(job), Entry{std::move(owner), series});
}

void OwnerGraph::ForgetReplicaSet(std::string_view replicaset, uint32_t series) {
  const auto found = replicasets_.find(replicaset);
  if (found != replicasets_.end() && found->second.series == series) replicasets_.erase(found);
}

void OwnerGraph::ForgetJob(std::string_view job, uint32_t series) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end() && found->second.series == series) jobs_.erase(found);
}

const Owner* OwnerGraph::OwnerBy(const Entries& entries, std::string_view name, uint32_t series) {
  const auto found = entries.find(name);
  return found != entries.end() && found->second.series == series ? &found->second.owner : nullptr;
}

const Owner* OwnerGraph::ReplicaSetOwnerBy(std::string_view replicaset, uint32_t series) const {
  return OwnerBy(replicasets_, replicaset, series);
}

const Owner* OwnerGraph::JobOwnerBy(std::string_view job, uint32_t series) const {
  return OwnerBy(jobs_, job, series);
}

bool OwnerGraph::AddReplicaSetOwner(std::string_view replicaset, Owner owner, uint32_t series) {
  return replicasets_.emplace(std::string(replicaset), Entry{std::move(owner), series}).second;
}

bool OwnerGraph::AddJobOwner(std::string_view job, Owner owner, uint32_t series) {
  return jobs_.emplace(std::string(job), Entry{std::move(owner), series}).second;
}

std::optional<ResolvedOwner> OwnerGraph::ResolveThrough(const Entries& entries,
                                                        const Owner& owner) {
  const auto found = entries.find(owner.name);
  if (found == entries.end()) return std::nullopt;
  const Owner& above = found->second.owner;
  if (above.kind.empty()) return ResolvedOwner{ToLower(owner.kind), owner.name};
  return ResolvedOwner{ToLower(above.kind), above.name};
}

std::optional<ResolvedOwner> OwnerGraph::Resolve(const Owner& owner, std::string_view pod,
                                                 bool waited) const {
  if (owner.kind.empty()) return ResolvedOwner{"barepod", std::string(pod)};
  if (owner.kind == "Node") return ResolvedOwner{"staticpod", std::string(pod)};
  if (owner.kind == "ReplicaSet") {
    if (auto resolved = ResolveThrough(replicasets_, owner)) return resolved;
    if (!waited) return std::nullopt;
    const std::string_view deployment = WithoutTemplateHash(owner.name);
    if (!deployment.empty()) return ResolvedOwner{"deployment", std::string(deployment), true};
    return ResolvedOwner{"replicaset", owner.name, true};
  }
  if (owner.kind == "Job") {
    if (auto resolved = ResolveThrough(jobs_, owner)) return resolved;
    if (!waited) return std::nullopt;
    return ResolvedOwner{"job", owner.name, true};
  }
  return ResolvedOwner{ToLower(owner.kind), owner.name};
}

std::string_view WithoutTemplateHash(std::string_view replicaset) {
  const size_t dash = replicaset.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return {};
  const std::string_view hash = replicaset.substr(dash + 1);
  const bool plausible = !hash.empty() && hash.size() <= kMaxTemplateHash &&
                         std::all_of(hash.begin(), hash.end(), [](unsigned char c) {
                           return std::isdigit(c) != 0 || std::islower(c) != 0;
                         });
  return plausible ? replicaset.substr(0, dash) : std::string_view{};
}

}  // namespace tidemark::workloads
