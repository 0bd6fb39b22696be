#pragma once
// The flags of `tidetool demo-cluster`; cmd/demo_cluster/ is the cluster itself.

#include <span>
#include <string>

#include "cmd/command_line.h"
#include "cmd/demo_cluster/command.h"
#include "model/result.h"

namespace tidemark::cmd {

CommandSpec DemoClusterSpec();

/// From a line that ParseCommandLine has read with DemoClusterSpec. Errors are kInvalidArgument and
/// name the flag.
Result<demo_cluster::DemoClusterOptions> ReadDemoClusterFlags(const CommandLine& line);

/// Runs the command with its own arguments. Returns the exit code; 2 for a wrong flag.
int RunDemoClusterCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
