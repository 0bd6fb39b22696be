#pragma once
// YAML → trees that know where their parts stand.

#include <string_view>
#include <vector>

#include "model/result.h"
#include "rightsizing/manifest.h"
#include "rightsizing/source_node.h"

namespace tidemark::rightsizing {

inline constexpr size_t kMaxManifestDepth = 64;
/// A tree of so many takes some 25 MB.
inline constexpr size_t kMaxManifestNodes = 100'000;
inline constexpr size_t kMaxManifestDocuments = 2000;

/// The documents of a stream, in order; an empty one is a null. Aliases are not followed, so that
/// few bytes stay a small tree. kInvalidArgument, with line and column, for what is no YAML or over
/// one of the bounds. UTF-8 without a byte-order mark. Any bytes may be given.
Result<std::vector<SourceNode>> ReadYamlSource(std::string_view text);

/// The same of one JSON document, with the bounds of YAML.
Result<SourceNode> ReadJsonSource(std::string_view text);

}  // namespace tidemark::rightsizing
