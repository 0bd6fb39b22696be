#pragma once
// tidetool storage: what is in a store, and whether it is whole.

#include <span>
#include <string>

#include "cmd/command_line.h"

namespace tidemark::cmd {

CommandSpec StorageSpec();

/// 0: it could be read whole; 1: it is damaged or cannot be read; 2: wrong usage.
int RunStorageCommand(std::span<const std::string> args);

}  // namespace tidemark::cmd
