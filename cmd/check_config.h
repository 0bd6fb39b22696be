#pragma once
// `tidetool check-config FILE`: says whether the daemon would take a configuration file.

#include <span>
#include <string>

#include "cmd/command_line.h"

namespace tidemark::cmd {

CommandSpec CheckConfigSpec();

/// Runs the command with its own arguments: verdict to stdout, errors to stderr. Returns the exit
/// code: 0, or 2 when the file or a flag is wrong.
int RunCheckConfig(std::span<const std::string> args);

}  // namespace tidemark::cmd
