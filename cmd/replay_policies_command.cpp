#include "cmd/replay_policies_command.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX

#include <cstdio>
#include <fstream>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/backtest/demand_csv.h"
#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/replay_policies/minutes_csv.h"
#include "cmd/replay_policies/report.h"
#include "cmd/replay_policies_flags.h"
#include "cmd/run_display.h"
#include "cmd/text.h"
#include "cmd/write_report.h"
#include "model/clock.h"
#include "model/log.h"

namespace tidemark::cmd {
namespace {

using replay_policies::ReplayRun;
using replay_policies::TraceMinutes;

constexpr std::string_view kName = "tidetool replay";

int Complain(const Error& error) {
  fmt::print(stderr, "{}: error: {}\n", kName, error.message);
  return error.code == ErrorCode::kInvalidArgument ? kUsageExitCode : 1;
}

std::string TextOf(const ReplayRun& run, PoliciesOutput output) {
  switch (output) {
    case PoliciesOutput::kTable: break;
    case PoliciesOutput::kJson: return replay_policies::ReportJson(run);
    case PoliciesOutput::kCsv: return replay_policies::ReportCsv(run);
    case PoliciesOutput::kHtml: return replay_policies::ReportPage(run);
  }
  return replay_policies::ReportTable(run);
}

/// The file of minutes, written as they come: they would not fit into memory.
class MinutesFile {
 public:
  explicit MinutesFile(const std::string& path) : path_(path) {
    if (path.empty()) return;
    file_.open(path, std::ios::binary | std::ios::trunc);
    file_ << replay_policies::kMinutesHead;
  }
  Result<void> Add(const TraceMinutes& minutes) {
    replay_policies::WriteMinuteRows(minutes, file_);
    return Check();
  }
  Result<void> Close() {
    if (path_.empty()) return {};
    file_.close();
    return Check();
  }
  Result<void> Check() const {
    if (path_.empty() || file_) return {};
    return Fail(ErrorCode::kIo,
                fmt::format("--minutes: {} cannot be written, allowed: a file in a folder that may "
                            "be written to",
                            OneLine(path_)));
  }

 private:
  const std::string path_;
  std::ofstream file_;
};

int Run(const ReplayPoliciesOrder& order) {
  RunDisplay display;
  const SystemClock clock;
  auto demands = order.prometheus
                     ? backtest::FetchDemands(*order.prometheus, clock,
                                              [&](std::string_view what) { display.Show(what); })
                     : backtest::LoadDemands(order.traces);
  if (!demands) return display.Close(), Complain(demands.error());
  MinutesFile minutes(order.minutes_file);
  if (auto good = minutes.Check(); !good) return display.Close(), Complain(good.error());
  std::function<Result<void>(const TraceMinutes&)> keep;
  if (!order.minutes_file.empty()) {
    keep = [&](const TraceMinutes& trace) { return minutes.Add(trace); };
  }
  const size_t total = demands->size();
  const auto run = replay_policies::RunReplay(
      order.plan, *std::move(demands), keep, [&](size_t trace, double share) {
        display.Show(
            fmt::format("replay: trace {} of {}, {:.0f} %", trace + 1, total, 100 * share));
      });
  display.Close();
  if (!run) return Complain(run.error());
  if (auto good = minutes.Close(); !good) return Complain(good.error());
  if (run->ReplayedCount() == 0) {
    const replay_policies::ReplayedTrace& trace = run->traces.front();
    return Complain({ErrorCode::kInvalidArgument, fmt::format("{}: {}", trace.name, trace.why)});
  }
  const auto written = WriteReport(order.output_file, TextOf(*run, order.output));
  return written ? 0 : Complain(written.error());
}

}  // namespace

int RunReplayPoliciesCommand(std::span<const std::string> args) {
  const auto line = ParseCommandLine(ReplayPoliciesSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(ReplayPoliciesSpec()) : VersionText("tidetool"));
    return 0;
  }
  ConfigureLog(LogLevel::kError, LogFormat::kLogfmt);  // what a back-fill says of its queries
  signal(SIGPIPE, SIG_IGN);  // a peer that goes away is an error of its socket
  const auto order = ReadReplayPoliciesFlags(*line, ToUnixMs(SystemClock().Now()));
  if (!order) return ReportUsageError(kName, order.error());
  return Run(*order);
}

}  // namespace tidemark::cmd
