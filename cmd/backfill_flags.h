#pragma once
// The flags of `tidetool backfill`.

#include <cstdint>
#include <string>

#include "client/options.h"
#include "cmd/command_line.h"
#include "model/result.h"

namespace tidemark::cmd {

struct BackfillOrder {
  client::HttpClientOptions tidemark;  ///< the daemon that is asked
  std::string body;                    ///< JSON of POST /api/v1/backfill
  bool cancel = false;
  bool detach = false;  ///< not followed
};

CommandSpec BackfillSpec();

/// From a line that ParseCommandLine has read with BackfillSpec. Files of secrets and certificates
/// for Prometheus are read here, since the daemon may be on another machine. `now_ms`: what "ago"
/// counts from. Errors name the flag.
Result<BackfillOrder> ReadBackfillFlags(const CommandLine& line, int64_t now_ms);

}  // namespace tidemark::cmd
