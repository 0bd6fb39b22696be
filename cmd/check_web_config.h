#pragma once
// `tidetool check-web-config FILE`: says whether the daemon would take a web configuration.

#include <span>
#include <string>

#include "cmd/command_line.h"

namespace tidemark::cmd {

CommandSpec CheckWebConfigSpec();

/// Runs the command with its own arguments: verdict to stdout, errors to stderr. Returns the exit
/// code: 0, or 2 when the file, a file that it names, or a flag is wrong.
int RunCheckWebConfig(std::span<const std::string> args);

}  // namespace tidemark::cmd
