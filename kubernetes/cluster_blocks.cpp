#include "kubernetes/cluster_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/quoted.h"

namespace tidemark::kubernetes {
namespace {

std::string_view ClusterOf(const std::shared_ptr<const NamespaceBlock>& block) {
  return block->cluster;
}
std::string_view NamespaceOf(const std::shared_ptr<const NamespaceBlock>& block) {
  return block->name_space;
}

}  // namespace

Result<Blocks> BlocksOf(const Snapshot& snapshot, std::string_view cluster) {
  const Blocks all = snapshot.blocks;
  if (all.empty()) return all;
  const std::string_view first = ClusterOf(all.front());
  const std::string_view last = ClusterOf(all.back());
  if (!cluster.empty()) {
    const auto found = std::ranges::equal_range(all, cluster, {}, ClusterOf);
    return Blocks(found.begin(), found.end());
  }
  if (first == last) return all;
  return Fail(ErrorCode::kUnavailable,
              fmt::format("the streams carry more than one cluster (the labels cluster={} and "
                          "cluster={} among them), and one port serves one: start Tidemark with "
                          "--kubernetes.cluster=NAME",
                          QuotedText(first), QuotedText(last)));
}

const NamespaceBlock* FindNamespace(Blocks blocks, std::string_view name_space) {
  const auto found = std::ranges::lower_bound(blocks, name_space, {}, NamespaceOf);
  return found != blocks.end() && NamespaceOf(*found) == name_space ? found->get() : nullptr;
}

}  // namespace tidemark::kubernetes
