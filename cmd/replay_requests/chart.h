#pragma once
// One chart: a workload's use, and what each preset would have requested. SVG without scripts, to
// stand inside of a page of HTML.

#include <string>

#include "cmd/replay_requests/replay.h"

namespace tidemark::replay_requests {

/// `text` as it can stand in HTML or SVG, also within double quotes.
std::string EscapeHtml(std::string_view text);

/// Classes of its parts: `use`, `p0`, `p1`, … (the presets in order), `warm`, `axis`. At most some
/// thousand points, however long the trace: of several steps at one place the most is shown.
std::string Chart(const ReplayReport& report, size_t trace, size_t resource);

}  // namespace tidemark::replay_requests
