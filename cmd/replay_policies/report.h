#pragma once
// A run as text: a table for people, JSON and CSV for programs, one page of HTML. Pure functions of
// the run: the same run gives the same bytes. docs/replay.md describes all of them.

#include <string>

#include "cmd/replay_policies/run.h"

namespace tidemark::replay_policies {

/// Each trace, then means over classes and all of them.
std::string ReportTable(const ReplayRun& run);

/// A list of objects, one for each trace and policy; a trace that could not be replayed has one
/// with `why`. Ended by a line feed.
std::string ReportJson(const ReplayRun& run);

/// RFC 4180, the same fields as JSON; also `perfect` of each trace, and means with the trace `*`.
std::string ReportCsv(const ReplayRun& run);

/// One page that needs nothing else: no request, no script. Of more than kMaxCharts traces only the
/// first have charts, which the page says. Names are escaped. Also well-formed XML but for its
/// first line.
std::string ReportPage(const ReplayRun& run);
inline constexpr size_t kMaxCharts = 50;

}  // namespace tidemark::replay_policies
