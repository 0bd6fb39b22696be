#pragma once
// `tidetool replay requests`: what presets would have requested of recorded usage, and what that
// would have cost and risked. Without `requests` policies are replayed:
// cmd/replay_policies_command.h.

#include <span>
#include <string>

namespace tidemark::cmd {

/// Runs either command with its own arguments. Returns the exit code: 0; 1 when the traces could
/// not be had or the report not be written; 2 for a wrong flag or trace.
int RunReplayCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
