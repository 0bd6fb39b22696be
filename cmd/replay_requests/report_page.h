#pragma once
// A report as one page of HTML that needs nothing else: no request, no script.

#include <string>

#include "cmd/replay_requests/replay.h"

namespace tidemark::replay_requests {

/// The means, the presets at equal risk where asked for, and of each trace two charts and its
/// figures. Of more than kMaxCharts traces only the first have charts, which the page says. Labels
/// are escaped. UTF-8; also well-formed XML but for its first line.
std::string ReportPage(const ReplayReport& report);
inline constexpr size_t kMaxCharts = 200;

}  // namespace tidemark::replay_requests
