#pragma once
// Traces from files: one CSV, or a folder of them.

#include <string>
#include <vector>

#include "cmd/replay_requests/manifest.h"
#include "cmd/replay_requests/trace.h"
#include "model/result.h"

namespace tidemark::replay_requests {

/// Of all traces of one run together.
inline constexpr uint64_t kMaxCellsOfAll = 20'000'000;

/// Where traces are, of whatever kind: one file, or a folder of them.
struct TraceFiles {
  std::string folder;
  std::vector<ManifestLine> lines;  ///< one for each file; never empty
};
/// As LoadTraces finds them, before any is read.
Result<TraceFiles> FindTraceFiles(const std::string& path);
/// The whole file, without a byte order mark. Errors name it.
Result<std::string> ReadTraceFile(const std::string& folder, const ManifestLine& line);
/// What a trace is called: its file's name without `.csv`, as good UTF-8 without control bytes.
std::string TraceNameOf(const ManifestLine& line);

/// One file, or of a folder those that its manifest.csv lists, in that order, or, where it has
/// none, all `*.csv` by name. The manifest's columns are found by their names in its first line:
/// `file` must be there; `class`, `real`, `original_cpu_cores` and `original_memory_bytes` may be.
/// One file that stands in a manifest beside it has what that says. Traces are called as their
/// files, without `.csv`. Errors name the file, the line and what is allowed.
Result<std::vector<Trace>> LoadTraces(const std::string& path);

}  // namespace tidemark::replay_requests
