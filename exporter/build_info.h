#pragma once
// What was built: given by cmd/, shown by tidemark_build_info and /api/v1/status/buildinfo.

#include <string>

namespace tidemark::exporter {

/// Plain text, UTF-8; unknown parts stay empty.
struct BuildInfo {
  std::string version;   ///< e.g. "0.1.0"
  std::string revision;  ///< of the source
  std::string branch;    ///< of the source
  std::string compiler;  ///< e.g. "g++ 12.2.0"
};

}  // namespace tidemark::exporter
