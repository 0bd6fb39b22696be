#pragma once
// `tidetool replay`: what policies would have scaled recorded demand to, what that would have cost
// and risked.

#include <span>
#include <string>

namespace tidemark::cmd {

/// Runs the command with its own arguments. Returns the exit code: 0; 1 when the traces could not
/// be had or a report not be written; 2 for a wrong flag, or a trace that cannot be replayed.
int RunReplayPoliciesCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
