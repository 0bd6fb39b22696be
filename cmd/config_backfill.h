#pragma once
// `backfill:` of the configuration. Used by the configuration's own files only.

#include <cstdint>
#include <string>

#include "backfill/options.h"
#include "cmd/yaml_reader.h"
#include "model/result.h"

namespace tidemark::cmd {

/// A map; `out` holds the defaults. Paths are taken from the directory of `config_file`.
Result<void> ReadBackfill(const YamlValue& value, const std::string& config_file,
                          backfill::Options& out);

/// What a dump does with passwords, tokens, keys and values of headers.
enum class Secrets : uint8_t {
  kHidden,  ///< has `<secret>` stand for them
  kShown,   ///< has them; for comparing only
};

/// The section as YAML, every key written out.
std::string DumpBackfill(const backfill::Options& options, Secrets secrets);

}  // namespace tidemark::cmd
