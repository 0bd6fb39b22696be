#pragma once
// `backfill:` of the configuration. Used by the configuration's own files only.

#include <string>

#include "backfill/options.h"
#include "cmd/yaml_reader.h"
#include "model/result.h"

namespace tidemark::cmd {

/// A map; `out` holds the defaults. Paths are taken from the directory of `config_file`.
Result<void> ReadBackfill(const YamlValue& value, const std::string& config_file,
                          backfill::Options& out);

/// The section as YAML, every key written out; `<secret>` in place of passwords, tokens, keys and
/// values of headers.
std::string DumpBackfill(const backfill::Options& options);

}  // namespace tidemark::cmd
