#pragma once
// What was built, from what and with what; known when the build is configured.

#include <string>
#include <string_view>

namespace tidemark::cmd {

/// Views of constants.
struct BuildInfo {
  std::string_view version;
  std::string_view branch;    ///< "unknown" when not built from a git checkout
  std::string_view revision;  ///< likewise
  std::string_view build_type;
  std::string_view compiler;  ///< e.g. "GNU 12.2.0"
  std::string_view platform;  ///< e.g. "linux/amd64"
};

const BuildInfo& ThisBuild();

/// What --version prints, in the form of Prometheus' programs.
std::string VersionText(std::string_view program);

}  // namespace tidemark::cmd
