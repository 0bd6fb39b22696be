#include "cmd/build_info.h"

#include <fmt/format.h>

#include "cmd/version.h"

namespace tidemark::cmd {

const BuildInfo& ThisBuild() {
  static constexpr BuildInfo kBuild{
      .version = kVersion,
      .branch = kBranch,
      .revision = kRevision,
      .build_type = kBuildType,
      .compiler = kCompiler,
      .platform = kPlatform,
  };
  return kBuild;
}

std::string VersionText(std::string_view program) {
  const BuildInfo& build = ThisBuild();
  return fmt::format(
      "{}, version {} (branch: {}, revision: {})\n"
      "  build type:       {}\n"
      "  compiler:         {}\n"
      "  platform:         {}\n",
      program, build.version, build.branch, build.revision, build.build_type, build.compiler,
      build.platform);
}

}  // namespace tidemark::cmd
