#pragma once
// `tidetool rightsize`: a manifest with the requests that its workloads should have.

#include <span>
#include <string>

#include "cmd/command_line.h"

namespace tidemark::cmd {

CommandSpec RightsizeSpec();

/// Exit code 0; with --diff 1 when there is something to change, as diff(1) has it; 2 for wrong
/// flags or a file that cannot be read; 3 when Tidemark cannot be asked or refuses the manifest.
int RunRightsizeCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
