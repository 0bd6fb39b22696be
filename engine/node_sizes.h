#pragma once
// What the largest node of each cluster can give to pods: no request above it can be scheduled.

#include <array>
#include <map>
#include <optional>
#include <string>

#include "model/resource.h"

namespace tidemark::engine {

/// Cores and bytes, by Resource; absent where nothing tells.
using NodeSize = std::array<std::optional<double>, 2>;

/// By cluster. A node's size is told to one namespace of one shard; what all shards know together
/// is here.
using NodeSizes = std::map<std::string, NodeSize, std::less<>>;

/// Each of `sizes` becomes the larger of the two.
inline void RaiseSize(const NodeSize& by, NodeSize& size) {
  for (size_t i = 0; i < size.size(); ++i) {
    if (by[i] && (!size[i] || *by[i] > *size[i])) size[i] = by[i];
  }
}

}  // namespace tidemark::engine
