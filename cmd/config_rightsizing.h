#pragma once
// `rightsizing:` of the configuration. Used by the configuration's own files only.
//
// Free functions without state, thread-safe.

#include <string>

#include "cmd/yaml_reader.h"
#include "model/result.h"
#include "model/rightsizing.h"

namespace tidemark::cmd {

/// A map; `out` holds the defaults.
Result<void> ReadRightsizing(const YamlValue& value, RightsizingSettings& out);

/// The section as YAML, every key written out; read again it is the same.
std::string DumpRightsizing(const RightsizingSettings& settings);

}  // namespace tidemark::cmd
