#pragma once
// The flags of `tidetool replay requests`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/command_line.h"
#include "cmd/replay_requests/preset.h"
#include "cmd/replay_requests/prometheus_source.h"
#include "cmd/replay_requests/replay.h"
#include "model/result.h"

namespace tidemark::cmd {

enum class ReplayOutput : uint8_t { kTable, kJson, kHtml };

struct ReplayOrder {
  std::string traces;  ///< a file or folder; empty: from Prometheus
  std::optional<replay_requests::PrometheusSource> prometheus;
  std::vector<replay_requests::ReplayPreset> presets;
  replay_requests::ReplayOptions options;
  ReplayOutput output = ReplayOutput::kTable;
  std::string output_file;  ///< empty: standard output
};

CommandSpec ReplaySpec();

/// From a line that ParseCommandLine has read with ReplaySpec. Reads the configuration file.
/// `now_ms`: what "ago" counts from. Errors name the flag.
Result<ReplayOrder> ReadReplayFlags(const CommandLine& line, int64_t now_ms);

}  // namespace tidemark::cmd
