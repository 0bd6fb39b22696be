#include "cmd/replay_command.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/replay_flags.h"
#include "cmd/replay_requests/report_page.h"
#include "cmd/replay_requests/report_text.h"
#include "cmd/replay_requests/trace_files.h"
#include "cmd/text.h"
#include "model/clock.h"
#include "model/log.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;
using replay_requests::ReplayReport;
using replay_requests::Trace;

constexpr std::string_view kName = "tidetool replay requests";
constexpr auto kQuietFor = 2s;
constexpr auto kMoveEvery = 200ms;
constexpr auto kPlainLineEvery = 10s;

/// What a long run shows on standard error: one line that moves on a terminal, else a line now and
/// then. A short one shows nothing.
class Display {
 public:
  void Show(std::string_view line) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? std::chrono::milliseconds(kMoveEvery)
                             : std::chrono::milliseconds(kPlainLineEvery));
    if (terminal_) {
      fmt::print(stderr, "\r{:<60}", line);
      open_ = true;
    } else {
      fmt::print(stderr, "{}\n", line);
    }
  }
  void Close() {
    if (open_) fmt::print(stderr, "\r{:<60}\r", "");
    open_ = false;
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool open_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kQuietFor;
};

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

Result<void> Write(const std::string& path, const std::string& text) {
  if (path.empty()) {
    const bool good =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (good) return {};
    return Fail(ErrorCode::kIo, "standard output cannot be written");
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return Fail(ErrorCode::kIo, fmt::format("{}: cannot be written, allowed: a file in a folder that "
                                          "may be written to",
                                          OneLine(path)));
}

int Run(const ReplayOrder& order) {
  std::error_code wrong;
  if (!order.prometheus && !order.output_file.empty() &&
      std::filesystem::equivalent(order.traces, order.output_file, wrong)) {
    return Complain({ErrorCode::kInvalidArgument,
                     fmt::format("--output.file: {} is what is replayed, allowed: another file",
                                 OneLine(order.output_file))});
  }
  Display display;
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
  const auto written = Write(order.output_file, TextOf(*report, order.output));
  return written ? 0 : Complain(written.error());
}

}  // namespace

int RunReplayCommand(std::span<const std::string> args) {
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

}  // namespace tidemark::cmd
