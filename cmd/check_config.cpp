#include "cmd/check_config.h"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "cmd/build_info.h"
#include "cmd/config.h"
#include "cmd/flags.h"
#include "workloads/sources.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kName = "tidetool check-config";

std::string Summary(const Config& config) {
  const workloads::SourceTable table(config.sources);
  return fmt::format("{} sources in force, {} lines from the file; at most {} series", table.size(),
                     config.sources.size(), config.engine.max_series);
}

}  // namespace

CommandSpec CheckConfigSpec() {
  return {
      std::string(kName),
      "Check whether a configuration file is good.",
      {{"dump", "", "Print the whole configuration that results, every key written out, as YAML."}},
      {{"file", "The configuration file to check."}}};
}

int RunCheckConfig(std::span<const std::string> args) {
  const auto line = ParseCommandLine(CheckConfigSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(CheckConfigSpec()) : VersionText("tidetool"));
    return 0;
  }
  const std::string& file = line->arguments.front();
  const auto config = LoadConfig(file);
  if (!config) return ReportUsageError(kName, config.error());
  if (line->flags.contains("dump")) {
    fmt::print("{}", DumpConfig(*config));
  } else {
    fmt::print("{}: OK\n  {}\n", file, Summary(*config));
  }
  return 0;
}

}  // namespace tidemark::cmd
