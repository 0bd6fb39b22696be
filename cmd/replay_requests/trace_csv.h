#pragma once
// Recorded usage as CSV: `unix_seconds,pod,cpu_cores,memory_bytes` with that line first, sorted by
// time. An empty cell is a sample that is not known. Pure functions.

#include <string>
#include <string_view>

#include "cmd/replay_requests/trace.h"
#include "model/result.h"

namespace tidemark::replay_requests {

/// Total: any bytes are read or refused, with memory that follows their length. An error
/// (kInvalidArgument) is one line, `NAME:LINE: what was wrong, allowed: ...`. `file_name` stands in
/// it and nowhere else; the trace has no name yet. The step is the shortest time between two
/// samples, and every other time must lie on it.
Result<Trace> ParseTraceCsv(std::string_view text, const std::string& file_name);

}  // namespace tidemark::replay_requests
