#pragma once
// Where a server listens, as Prometheus' programs write it.

#include <string_view>

#include "model/result.h"

namespace tidemark::cmd {

/// Takes `0.0.0.0:9849`, `localhost:9849`, `[::1]:9849` and `:9849` (all interfaces); port 0 is any
/// free one. Names are not looked up: whether one can listen there is the server's to find out.
Result<void> CheckListenAddress(std::string_view text);

}  // namespace tidemark::cmd
