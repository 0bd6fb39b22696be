#pragma once
// Flags by which a tool reaches a server, all behind one prefix: `--tidemark.url`,
// `--tidemark.ca-file`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/options.h"
#include "cmd/command_line.h"
#include "cmd/prometheus_access.h"
#include "model/result.h"

namespace tidemark::cmd {

/// Those of PrometheusAccessFlags, behind a prefix. `whose`: "Tidemark's".
void AddServerAccessFlags(std::string_view prefix, std::string_view whose,
                          std::vector<FlagSpec>& flags);

/// `--PREFIX.url` and how to get in; nothing when none of them was given. Errors name the flag.
Result<std::optional<client::HttpClientOptions>> ReadServerFlags(const GivenFlags& flags,
                                                                 const std::string& prefix);

}  // namespace tidemark::cmd
