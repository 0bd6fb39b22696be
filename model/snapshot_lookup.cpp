#include "model/snapshot_lookup.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

using Block = std::shared_ptr<const NamespaceBlock>;

std::string_view ClusterOf(const Block& block) { return block->cluster; }
std::string_view NamespaceOf(const Block& block) { return block->name_space; }

}  // namespace

std::optional<std::string> ServedCluster(std::string_view configured, const Snapshot& snapshot) {
  if (!configured.empty()) return std::string(configured);
  if (snapshot.blocks.empty()) return "";
  const std::string& first = snapshot.blocks.front()->cluster;  // blocks are sorted by cluster
  if (snapshot.blocks.back()->cluster != first) return std::nullopt;
  return first;
}

NamespaceBlocks BlocksOf(const Snapshot& snapshot, std::string_view cluster) {
  return {std::ranges::lower_bound(snapshot.blocks, cluster, {}, ClusterOf),
          std::ranges::upper_bound(snapshot.blocks, cluster, {}, ClusterOf)};
}

const NamespaceBlock* FindNamespace(NamespaceBlocks blocks, std::string_view name_space) {
  const auto found = std::ranges::lower_bound(blocks, name_space, {}, NamespaceOf);
  return found != blocks.end() && NamespaceOf(*found) == name_space ? found->get() : nullptr;
}

const NamespaceBlock* FindNamespace(const Snapshot& snapshot, std::string_view cluster,
                                    std::string_view name_space) {
  return FindNamespace(BlocksOf(snapshot, cluster), name_space);
}

const WorkloadAdvice* FindWorkload(const NamespaceBlock* block, std::string_view workload_type,
                                   std::string_view workload) {
  if (block == nullptr) return nullptr;
  const auto key = [](const WorkloadAdvice& advice) {
    return std::pair(std::string_view(advice.id.workload_type),
                     std::string_view(advice.id.workload));
  };
  const std::pair wanted(workload_type, workload);
  const auto found = std::ranges::lower_bound(block->workloads, wanted, {}, key);
  return found == block->workloads.end() || key(*found) != wanted ? nullptr : &*found;
}

}  // namespace tidemark
