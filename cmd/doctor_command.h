#pragma once
// `tidetool doctor`: checks an installation.

#include <span>
#include <string>

namespace tidemark::cmd {

/// Runs the command with its own arguments. Returns the exit code: 0 when nothing is wrong (or what
/// was asked for is done), 1 when there are problems (or it could not be done), 2 for a wrong flag.
int RunDoctorCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
