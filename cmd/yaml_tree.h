#pragma once
// The tree that a YAML document becomes: plain data, no type of the YAML library. Used by
// yaml_reader only.

#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tidemark::cmd {

struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;          ///< a scalar that is text for certain
  int line = 1;                 ///< from 1; of the key where the node is a map's value
  std::string key;              ///< where the node is a map's value
  std::string text;             ///< of a scalar
  std::vector<YamlNode> items;  ///< of a list or a map, in order; the keys of a map are unique
};

/// Parses one document. Errors are `FILE:LINE: what`.
Result<YamlNode> ParseYamlTree(std::string_view text, std::string_view file_name);

}  // namespace tidemark::cmd
