#include "cmd/replay_command.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/replay_flags.h"
#include "cmd/replay_policies_command.h"
#include "cmd/replay_policies_flags.h"
#include "cmd/replay_requests/report_page.h"
#include "cmd/replay_requests/report_text.h"
#include "cmd/replay_requests/trace_files.h"
#include "cmd/run_display.h"
#include "cmd/text.h"
#include "cmd/write_report.h"
#include "model/clock.h"
#include "model/log.h"

namespace tidemark::cmd {
namespace {

using replay_requests::ReplayReport;

constexpr std::string_view kName = "tidetool replay requests";
constexpr std::string_view kRequests = "requests";

int Complain(const Error& error) {
  fmt::print(stderr, "{}: error: {}\n", kName, error.message);
  return error.code == ErrorCode::kInvalidArgument ? kUsageExitCode : 1;
}

std::string TextOf(const ReplayReport& report, ReplayOutput output) {
  switch (output) {
    case ReplayOutput::kTable: break;
    case ReplayOutput::kJson: return replay_requests::ReportJson(report);
    case ReplayOutput::kHtml: return replay_requests::ReportPage(report);
  }
  return replay_requests::ReportTable(report);
}

int Run(const ReplayOrder& order) {
  std::error_code wrong;
  if (!order.prometheus && !order.output_file.empty() &&
      std::filesystem::equivalent(order.traces, order.output_file, wrong)) {
    return Complain({ErrorCode::kInvalidArgument,
                     fmt::format("--output.file: {} is what is replayed, allowed: another file",
                                 OneLine(order.output_file))});
  }
  RunDisplay display;
  const SystemClock clock;
  auto traces = order.prometheus ? replay_requests::FetchTraces(
                                       *order.prometheus, clock,
                                       [&](std::string_view what) { display.Show(what); })
                                 : replay_requests::LoadTraces(order.traces);
  if (!traces) return display.Close(), Complain(traces.error());
  const auto report = replay_requests::Replay(
      *std::move(traces), order.presets, order.options, [&](size_t done, size_t total) {
        display.Show(fmt::format("replays: {} of {}", done, total));
      });
  display.Close();
  if (!report) return Complain(report.error());
  const auto written = WriteReport(order.output_file, TextOf(*report, order.output));
  return written ? 0 : Complain(written.error());
}

/// Whether the one argument that is no flag, nor the value of one, is `requests`.
bool IsOfRequests(std::span<const std::string> args) {
  const auto is_switch = [](std::string_view name) {
    if (name == "help" || name == "version") return true;
    for (const CommandSpec& spec : {ReplaySpec(), ReplayPoliciesSpec()}) {
      for (const FlagSpec& flag : spec.flags) {
        if (flag.name == name) return flag.value.empty();
      }
    }
    return false;
  };
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (!arg.starts_with('-')) return arg == kRequests;
    if (!arg.starts_with("--") || arg.find('=') != std::string_view::npos) continue;
    if (!is_switch(arg.substr(2))) ++i;  // its value
  }
  return false;
}

int RunRequests(std::span<const std::string> args) {
  const auto line = ParseCommandLine(ReplaySpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(ReplaySpec()) : VersionText("tidetool"));
    return 0;
  }
  ConfigureLog(LogLevel::kError, LogFormat::kLogfmt);  // what a back-fill says of its queries
  signal(SIGPIPE, SIG_IGN);  // a peer that goes away is an error of its socket
  const auto order = ReadReplayFlags(*line, ToUnixMs(SystemClock().Now()));
  if (!order) return ReportUsageError(kName, order.error());
  return Run(*order);
}

}  // namespace

int RunReplayCommand(std::span<const std::string> args) {
  return IsOfRequests(args) ? RunRequests(args) : RunReplayPoliciesCommand(args);
}

}  // namespace tidemark::cmd
