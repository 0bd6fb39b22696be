#pragma once
// `tidetool forecast`: how good forecasts of a recorded demand would have been.

#include <span>
#include <string>

namespace tidemark::cmd {

/// Runs the command with its own arguments. Returns the exit code: 0; 1 when the demand could not
/// be had or the report not be written; 2 for a wrong flag, or a demand that cannot be tested.
int RunForecastCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
