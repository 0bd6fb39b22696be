#pragma once
// `tidetool recommend`: a report of what every container should request, without a daemon.

#include <span>
#include <string>

namespace tidemark::cmd {

/// Runs the command with its own arguments. Returns the exit code: 0 with a report, 1 when a query
/// failed or nothing was found, 2 for a wrong flag, 130 when it was interrupted.
int RunRecommendCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
