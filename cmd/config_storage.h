#pragma once
// The section `storage:` of the configuration. Free functions without state, thread-safe.

#include <string>

#include "cmd/yaml_reader.h"
#include "engine/options.h"
#include "model/result.h"
#include "storage/options.h"

namespace tidemark::cmd {

/// Reads `checkpoint_interval` into the engine's options, the rest into the store's.
Result<void> ReadStorage(const YamlValue& value, storage::Options& storage,
                         engine::Options& engine);
std::string DumpStorage(const storage::Options& storage, const engine::Options& engine);

}  // namespace tidemark::cmd
