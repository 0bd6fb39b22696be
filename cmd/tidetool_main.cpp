// tidetool: the offline tools. One command per file; this one only finds it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/backfill_command.h"
#include "cmd/backfill_flags.h"
#include "cmd/build_info.h"
#include "cmd/check_config.h"
#include "cmd/check_web_config.h"
#include "cmd/command_line.h"
#include "cmd/demo_cluster_flags.h"
#include "cmd/doctor_command.h"
#include "cmd/doctor_flags.h"
#include "cmd/flags.h"
#include "cmd/forecast_command.h"
#include "cmd/forecast_flags.h"
#include "cmd/loadgen_flags.h"
#include "cmd/recommend_command.h"
#include "cmd/recommend_flags.h"
#include "cmd/replay_command.h"
#include "cmd/replay_policies_flags.h"
#include "cmd/rightsize_command.h"
#include "cmd/storage_command.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kProgram = "tidetool";

struct Command {
  std::string_view name;
  CommandSpec (*spec)();
  int (*run)(std::span<const std::string> args);
};

constexpr std::array kCommands = {
    Command{"backfill", BackfillSpec, RunBackfillCommand},
    Command{"check-config", CheckConfigSpec, RunCheckConfig},
    Command{"check-web-config", CheckWebConfigSpec, RunCheckWebConfig},
    Command{"demo-cluster", DemoClusterSpec, RunDemoClusterCommand},
    Command{"doctor", DoctorSpec, RunDoctorCommand},
    Command{"forecast", ForecastSpec, RunForecastCommand},
    Command{"loadgen", LoadgenSpec, RunLoadgenCommand},
    Command{"recommend", RecommendSpec, RunRecommendCommand},
    Command{"replay", ReplayPoliciesSpec, RunReplayCommand},
    Command{"rightsize", RightsizeSpec, RunRightsizeCommand},
    Command{"storage", StorageSpec, RunStorageCommand},
};

std::vector<std::string_view> CommandNames() {
  std::vector<std::string_view> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands) names.push_back(command.name);
  return names;
}

std::string ProgramHelp() {
  std::string text = HelpText({std::string(kProgram), "Offline tools of Tidemark.", {}, {}});
  text.replace(0, text.find('\n'), "usage: tidetool [<flags>] <command> [<args> ...]");
  text.append("\nCommands:\n");
  for (const Command& command : kCommands) {
    const CommandSpec spec = command.spec();
    std::string arguments;
    for (const ArgumentSpec& argument : spec.arguments)
      arguments +=
          fmt::format(fmt::runtime(argument.optional ? " [<{}>]" : " <{}>"), argument.name);
    text += fmt::format("{} [<flags>]{}\n", command.name, arguments);
    for (const std::string& line : WrapText(spec.description, 76))
      text += fmt::format("    {}\n", line);
    text += '\n';
  }
  text.pop_back();
  return text;
}

int Run(const std::vector<std::string>& args) {
  if (args.empty()) {
    return ReportUsageError(
        kProgram, {ErrorCode::kInvalidArgument,
                   fmt::format("the command is missing, allowed: {}", Join(CommandNames()))});
  }
  const std::string& name = args.front();
  if (name.starts_with('-')) {
    const auto line = ParseCommandLine({std::string(kProgram), "", {}, {}}, args);
    if (!line) return ReportUsageError(kProgram, line.error());
    fmt::print("{}", line->version && !line->help ? VersionText(kProgram) : ProgramHelp());
    return 0;
  }
  const auto* const command = std::find_if(
      kCommands.begin(), kCommands.end(), [&](const Command& known) { return known.name == name; });
  if (command != kCommands.end()) return command->run(std::span(args).subspan(1));
  const auto meant = ClosestName(name, CommandNames());
  return ReportUsageError(
      kProgram,
      {ErrorCode::kInvalidArgument,
       fmt::format("there is no command {}{}, allowed: {}", Shown(name),
                   meant ? fmt::format(" (did you mean {}?)", *meant) : "", Join(CommandNames()))});
}

}  // namespace
}  // namespace tidemark::cmd

int main(int argc, char** argv) {
  return tidemark::cmd::Run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
