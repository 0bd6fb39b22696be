#pragma once
// `tidetool replay`: what presets would have requested of recorded usage, and what that would have
// cost and risked.

#include <span>
#include <string>

namespace tidemark::cmd {

/// Runs the command with its own arguments. Returns the exit code: 0; 1 when the traces could not
/// be had or the report not be written; 2 for a wrong flag or trace.
int RunReplayCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
