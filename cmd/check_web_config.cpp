#include "cmd/check_web_config.h"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/web_config.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kName = "tidetool check-web-config";

std::string Summary(const server::AccessConfig& config) {
  return fmt::format("{}; {}; {} headers", config.tls ? "TLS" : "plain HTTP",
                     config.users.empty() ? "no password is asked for"
                                          : fmt::format("{} users", config.users.size()),
                     config.headers.size());
}

}  // namespace

CommandSpec CheckWebConfigSpec() {
  return {std::string(kName),
          "Check whether a web configuration file is good, with the certificates and keys that it "
          "names.",
          {},
          {{"file", "The web configuration file to check."}}};
}

int RunCheckWebConfig(std::span<const std::string> args) {
  const auto line = ParseCommandLine(CheckWebConfigSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(CheckWebConfigSpec()) : VersionText("tidetool"));
    return 0;
  }
  const std::string& file = line->arguments.front();
  const auto config = LoadWebConfig(file);
  if (!config) return ReportUsageError(kName, config.error());
  fmt::print("{}: OK\n  {}\n", file, Summary(*config));
  for (const std::string& warning : config->warnings) fmt::print("  warning: {}\n", warning);
  return 0;
}

}  // namespace tidemark::cmd
