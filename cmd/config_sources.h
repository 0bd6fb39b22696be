#pragma once
// The `sources:` list of the configuration. Used by the configuration's own files only.

#include <string>
#include <vector>

#include "cmd/yaml_reader.h"
#include "workloads/sources.h"

namespace tidemark::cmd {

inline constexpr size_t kMaxSources = 1000;

Result<std::vector<workloads::Source>> ReadSources(const YamlValue& list);

/// The list as YAML, under its key.
std::string DumpSources(const std::vector<workloads::Source>& sources);

}  // namespace tidemark::cmd
