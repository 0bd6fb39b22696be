#pragma once
// The `sources:` list of the configuration. Used by the configuration's own files only.

#include <string>
#include <vector>

#include "cmd/yaml_reader.h"
#include "model/resource_table.h"
#include "workloads/sources.h"

namespace tidemark::cmd {

inline constexpr size_t kMaxSources = 1000;

struct SourceList {
  std::vector<workloads::Source> sources;
  /// With those that the list names itself, in the order in which they come.
  ResourceTable resources;
};

Result<SourceList> ReadSources(const YamlValue& list);

/// The list as YAML, under its key.
std::string DumpSources(const std::vector<workloads::Source>& sources,
                        const ResourceTable& resources);

}  // namespace tidemark::cmd
