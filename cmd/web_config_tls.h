#pragma once
// `tls_server_config` of the web configuration. Used by web_config only.

#include <string>

#include "cmd/yaml_reader.h"
#include "model/result.h"
#include "server/access_config.h"

namespace tidemark::cmd {

/// Sets `out.tls` when TLS is wanted, and adds warnings. `file_name` is the web configuration's.
Result<void> ReadTlsServerConfig(const YamlValue& value, const std::string& file_name,
                                 server::AccessConfig& out);

}  // namespace tidemark::cmd
