#include "kubernetes/served_cluster.h"

#include <algorithm>

namespace tidemark::kubernetes {
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

Blocks BlocksOf(const Snapshot& snapshot, std::string_view cluster) {
  return {std::ranges::lower_bound(snapshot.blocks, cluster, {}, ClusterOf),
          std::ranges::upper_bound(snapshot.blocks, cluster, {}, ClusterOf)};
}

const NamespaceBlock* FindNamespace(Blocks blocks, std::string_view name_space) {
  const auto found = std::ranges::lower_bound(blocks, name_space, {}, NamespaceOf);
  return found != blocks.end() && NamespaceOf(*found) == name_space ? found->get() : nullptr;
}

}  // namespace tidemark::kubernetes
