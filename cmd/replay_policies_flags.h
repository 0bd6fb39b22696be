#pragma once
// The flags of `tidetool replay`, the replay of policies.

#include <cstdint>
#include <optional>
#include <string>

#include "cmd/backtest/demand_query.h"
#include "cmd/command_line.h"
#include "cmd/replay_policies/run.h"
#include "model/result.h"

namespace tidemark::cmd {

enum class PoliciesOutput : uint8_t { kTable, kJson, kCsv, kHtml };

struct ReplayPoliciesOrder {
  std::string traces;  ///< a file or folder; empty: from Prometheus
  std::optional<backtest::DemandQuery> prometheus;
  replay_policies::ReplayPlan plan;
  PoliciesOutput output = PoliciesOutput::kTable;
  std::string output_file;   ///< empty: standard output
  std::string minutes_file;  ///< empty: none
};

CommandSpec ReplayPoliciesSpec();

/// From a line that ParseCommandLine has read with ReplayPoliciesSpec. `now_ms`: what "ago" counts
/// from. Errors name the flag. Files are looked at so far that none is written among the traces.
Result<ReplayPoliciesOrder> ReadReplayPoliciesFlags(const CommandLine& line, int64_t now_ms);

}  // namespace tidemark::cmd
