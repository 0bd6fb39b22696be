#include "cmd/forecast_command.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cmd/backtest/demand_csv.h"
#include "cmd/backtest/report_page.h"
#include "cmd/backtest/report_text.h"
#include "cmd/backtest/run.h"
#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/forecast_flags.h"
#include "cmd/run_display.h"
#include "cmd/text.h"
#include "cmd/write_report.h"
#include "model/clock.h"
#include "model/log.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kName = "tidetool forecast";

int Complain(const Error& error) {
  fmt::print(stderr, "{}: error: {}\n", kName, error.message);
  return error.code == ErrorCode::kInvalidArgument ? kUsageExitCode : 1;
}

std::string TextOf(const backtest::BacktestRun& run, ForecastOutput output) {
  switch (output) {
    case ForecastOutput::kTable: break;
    case ForecastOutput::kJson: return backtest::ReportJson(run);
    case ForecastOutput::kHtml: return backtest::ReportPage(run);
  }
  return backtest::ReportTable(run);
}

int Run(const ForecastOrder& order) {
  std::error_code wrong;
  if (!order.prometheus && !order.output_file.empty() &&
      std::filesystem::equivalent(order.path, order.output_file, wrong)) {
    return Complain({ErrorCode::kInvalidArgument,
                     fmt::format("--output.file: {} is what is tested, allowed: another file",
                                 OneLine(order.output_file))});
  }
  RunDisplay display;
  const SystemClock clock;
  auto demands = order.prometheus
                     ? backtest::FetchDemands(*order.prometheus, clock,
                                              [&](std::string_view what) { display.Show(what); })
                     : backtest::LoadDemands(order.path);
  if (!demands) return display.Close(), Complain(demands.error());
  const auto run =
      backtest::RunBacktests(*std::move(demands), order.options, [&](size_t done, size_t total) {
        display.Show(fmt::format("back-tests: {} of {}", done, total));
      });
  display.Close();
  if (run.TestedCount() == 0) {
    const auto& [demand, report, why] = run.tested.front();
    return Complain({ErrorCode::kInvalidArgument, fmt::format("{}: {}", demand.name, why)});
  }
  const auto written = WriteReport(order.output_file, TextOf(run, order.output));
  return written ? 0 : Complain(written.error());
}

}  // namespace

int RunForecastCommand(std::span<const std::string> args) {
  const auto line = ParseCommandLine(ForecastSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(ForecastSpec()) : VersionText("tidetool"));
    return 0;
  }
  ConfigureLog(LogLevel::kError, LogFormat::kLogfmt);  // what a back-fill says of its queries
  signal(SIGPIPE, SIG_IGN);  // a peer that goes away is an error of its socket
  const auto order = ReadForecastFlags(*line, ToUnixMs(SystemClock().Now()));
  if (!order) return ReportUsageError(kName, order.error());
  return Run(*order);
}

}  // namespace tidemark::cmd
