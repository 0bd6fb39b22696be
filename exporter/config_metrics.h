#pragma once
// tidemark_config_*: what came of reading the configuration.

#include <cstdint>

#include "exporter/exposition.h"

namespace tidemark::exporter {

struct ConfigStatus {
  bool last_reload_successful = true;
  int64_t last_success_ms = 0;  ///< Unix time
};

/// Appends the families. Thread-safe.
void AppendConfigMetrics(const ConfigStatus& status, ExpositionWriter& writer);

}  // namespace tidemark::exporter
