#pragma once
// A report as text: a table for people, JSON for programs. Pure functions; docs/requests.md
// describes both.

#include <string>
#include <string_view>

#include "cmd/replay_requests/replay.h"

namespace tidemark::replay_requests {

std::string ReportTable(const ReplayReport& report);

/// A list of objects, one for each trace, preset and resource, ended by a line feed; those of equal
/// risk last, with the trace "*".
std::string ReportJson(const ReplayReport& report);

// Shared with the page.

/// "2.09"; "-" when it is absent.
std::string SlackText(std::optional<double> slack);
/// A ratio as "4.13 %".
std::string ShareText(double ratio);
/// "requests every 1h after the first 2d".
std::string TimesText(const ReplayTimes& times);
/// "percentile 0.978".
std::string KnobText(const EqualRisk& risk);
/// What the presets have in common at equal risk: "CPU, 1 % of samples above the request".
std::string TargetText(Resource resource, double target);
std::string_view TitleOf(Resource resource);

}  // namespace tidemark::replay_requests
