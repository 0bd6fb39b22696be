#pragma once
// `tidetool backfill`: asks the daemon and follows what it does.

#include <span>
#include <string>

namespace tidemark::cmd {

/// Runs the command with its own arguments. Returns the exit code: 0 when all is in, 1 when the job
/// failed, ended early or left something uncovered, 2 for a wrong flag.
int RunBackfillCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
