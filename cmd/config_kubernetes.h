#pragma once
// `kubernetes:` of the configuration. Used by the configuration's own files only.
//
// Free functions without state, thread-safe.

#include <string>

#include "cmd/yaml_reader.h"
#include "kubernetes/settings.h"
#include "model/result.h"

namespace tidemark::cmd {

/// A map; `out` holds the defaults.
Result<void> ReadKubernetes(const YamlValue& value, kubernetes::Freshness& out);

/// The section as YAML, every key written out; read again it is the same.
std::string DumpKubernetes(const kubernetes::Freshness& freshness);

}  // namespace tidemark::cmd
