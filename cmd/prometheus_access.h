#pragma once
// Flags of the tools that reach a Prometheus: who asks, and by which certificates.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/options.h"
#include "cmd/command_line.h"
#include "model/result.h"

namespace tidemark::cmd {

using GivenFlags = std::map<std::string, std::string, std::less<>>;

/// The value of a flag; empty when it was not given.
std::string FlagValue(const GivenFlags& flags, std::string_view name);

/// username, password-file, bearer-token-file, header, ca-file, cert-file, key-file, server-name,
/// insecure-skip-verify.
std::vector<FlagSpec> PrometheusAccessFlags();
/// Whether any of them was given.
bool BringsAccess(const GivenFlags& flags);

/// `--header="NAME: VALUE"`; none when it was not given.
Result<std::vector<std::pair<std::string, std::string>>> ReadHeaderFlag(const GivenFlags& flags);
/// `NAME=VALUE,NAME=VALUE`.
Result<std::vector<std::pair<std::string, std::string>>> ReadLabelsFlag(const GivenFlags& flags,
                                                                        std::string_view name);

/// Puts them into `out`, which keeps its URL and timeouts. Files are looked at, so that a wrong
/// path is told as such and not as a server's refusal.
Result<void> ReadPrometheusAccess(const GivenFlags& flags, client::HttpClientOptions& out);
/// The same with the URL of `--prometheus`, and what holds for them together.
Result<void> ReadPrometheusServer(const GivenFlags& flags, client::HttpClientOptions& out);

}  // namespace tidemark::cmd
