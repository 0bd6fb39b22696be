#pragma once
// The flags of `tidetool loadgen`; cmd/loadgen/ is the generator itself.

#include <span>
#include <string>

#include "cmd/command_line.h"
#include "cmd/loadgen/options.h"
#include "model/result.h"

namespace tidemark::cmd {

CommandSpec LoadgenSpec();

/// From a line that ParseCommandLine has read with LoadgenSpec. Errors are kInvalidArgument and
/// name the flag.
Result<loadgen::LoadOptions> ReadLoadgenFlags(const CommandLine& line);

/// Runs the command with its own arguments. Returns the exit code: 0 when every sample was
/// acknowledged, 1 when not, 2 for a wrong flag.
int RunLoadgenCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
