#pragma once
// Flags and configuration → where the server's access rules come from.

#include <string>

#include "cmd/config.h"
#include "cmd/flags.h"
#include "server/access.h"

namespace tidemark::cmd {

server::AccessSources AccessSourcesOf(const Flags& flags, const Config& config);

/// Logs what lets secrets travel readable: passwords or tokens over plain HTTP on an address that
/// other machines reach.
void WarnOfOpenDoors(const std::string& listen_address, const server::AccessRules& rules);

}  // namespace tidemark::cmd
