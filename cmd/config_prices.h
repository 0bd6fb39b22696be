#pragma once
// The section `prices` of the configuration file.

#include <string>

#include "cmd/yaml_reader.h"
#include "model/prices.h"
#include "model/result.h"

namespace tidemark::cmd {

/// Overwrites what stands in the section and leaves the rest of `out` alone.
Result<void> ReadPrices(const YamlValue& value, Prices& out);
std::string DumpPrices(const Prices& prices);

}  // namespace tidemark::cmd
