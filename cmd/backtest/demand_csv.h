#pragma once
// Demand as CSV: `unix_seconds,value` with that line first, sorted by time; or usage by pod as
// `tidetool replay requests` reads it (cmd/replay_requests/trace_csv.h), whose CPU is summed up.
// Pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/backtest/demand.h"
#include "model/result.h"

namespace tidemark::backtest {

/// Total: any bytes are read or refused, with memory that follows their length. An empty value is
/// one that is not known. An error (kInvalidArgument) is one line, `NAME:LINE: what was wrong,
/// allowed: ...`; `file_name` stands in it and nowhere else. The demand has no name yet.
Result<Demand> ParseDemandCsv(std::string_view text, const std::string& file_name);

/// One file, or the files of a folder, as replay_requests::FindTraceFiles finds them.
Result<std::vector<Demand>> LoadDemands(const std::string& path);

}  // namespace tidemark::backtest
