#pragma once
// The web configuration file (`--web.config.file`), in the format of Prometheus' exporter-toolkit →
// server::AccessConfig. docs/web-configuration.md describes every key.
//
// Free functions without state, thread-safe. Errors are kInvalidArgument, one line:
// `FILE:LINE: KEY: what was wrong, allowed: ...`. A password hash or a key is never shown in one.

#include <string>
#include <string_view>

#include "model/result.h"
#include "server/access_config.h"

namespace tidemark::cmd {

/// Reads the text; touches no file. Paths in it are taken from the directory of `file_name`.
Result<server::AccessConfig> ParseWebConfig(std::string_view yaml, const std::string& file_name);

/// `path` as seen from the directory of `file_name`, unless it is absolute or empty.
std::string PathBeside(const std::string& file_name, const std::string& path);

/// Reads the file and everything that it names, as the daemon does at start. The warnings that it
/// would log are in the answer. Errors as above, or about a file.
Result<server::AccessConfig> LoadWebConfig(const std::string& path);

}  // namespace tidemark::cmd
