#pragma once
// `scaling:` of the configuration. Used by the configuration's own files only.
//
// Free functions without state, thread-safe.

#include <string>

#include "cmd/yaml_reader.h"
#include "model/result.h"
#include "model/scaling.h"

namespace tidemark::cmd {

/// A map; `out` holds the defaults.
Result<void> ReadScaling(const YamlValue& value, ScalingSettings& out);

/// The section as YAML, every key written out; read again it is the same.
std::string DumpScaling(const ScalingSettings& settings);

}  // namespace tidemark::cmd
