#include "kubernetes/served_cluster.h"

namespace tidemark::kubernetes {

std::optional<std::string> ServedCluster(std::string_view configured, const Snapshot& snapshot) {
  if (!configured.empty()) return std::string(configured);
  if (snapshot.blocks.empty()) return "";
  const std::string& first = snapshot.blocks.front()->cluster;  // blocks are sorted by cluster
  if (snapshot.blocks.back()->cluster != first) return std::nullopt;
  return first;
}

}  // namespace tidemark::kubernetes
