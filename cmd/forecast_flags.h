#pragma once
// The flags of `tidetool forecast`.

#include <cstdint>
#include <optional>
#include <string>

#include "cmd/backtest/demand_query.h"
#include "cmd/command_line.h"
#include "forecast/backtest.h"
#include "model/result.h"

namespace tidemark::cmd {

enum class ForecastOutput : uint8_t { kTable, kJson, kHtml };

struct ForecastOrder {
  std::string path;  ///< a file or folder; empty: from Prometheus
  std::optional<backtest::DemandQuery> prometheus;
  forecast::BacktestOptions options;
  ForecastOutput output = ForecastOutput::kTable;
  std::string output_file;  ///< empty: standard output
};

CommandSpec ForecastSpec();

/// From a line that ParseCommandLine has read with ForecastSpec. `now_ms`: what "ago" counts from.
/// Errors name the flag.
Result<ForecastOrder> ReadForecastFlags(const CommandLine& line, int64_t now_ms);

}  // namespace tidemark::cmd
