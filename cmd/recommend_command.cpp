#include "cmd/recommend_command.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/held_signals.h"
#include "cmd/recommend_flags.h"
#include "cmd/recommend_run.h"
#include "cmd/report/display_text.h"
#include "model/clock.h"
#include "model/log.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kName = "tidetool recommend";
constexpr auto kLookEvery = 50ms;
constexpr auto kShowEvery = 500ms;
constexpr auto kPlainLineEvery = 10s;
constexpr int kInterruptedExitCode = 128 + SIGINT;

std::string LeftText(int64_t eta_ms) {
  if (eta_ms < 0) return "unknown";
  const int64_t seconds = (eta_ms + 999) / 1000;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{}m", seconds / 3600, seconds / 60 % 60);
}

std::string ProgressLine(const BackfillStatus& status) {
  if (!status.trouble.empty()) return "asks again: " + status.trouble;
  if (status.state == BackfillState::kFinished) {
    return fmt::format("history is in: {} queries, {} samples; asks for what holds now",
                       status.queries, status.samples);
  }
  if (status.namespaces_total == 0) {
    return fmt::format("looks what there is: {} queries", status.queries);
  }
  // How many there will be shows with the work.
  const std::string of =
      status.progress_ratio < 0.01
          ? ""
          : fmt::format(" of about {:.0f}",
                        std::ceil(static_cast<double>(status.queries) / status.progress_ratio));
  return fmt::format("{:5.1f}%  left {}  queries {}{}  namespaces {}/{}  samples {}",
                     status.progress_ratio * 100, LeftText(status.eta_ms), status.queries, of,
                     status.namespaces_done, status.namespaces_total, status.samples);
}

/// On stderr: one line that moves on a terminal, plain lines now and then where they are asked for,
/// nothing else.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(bool wanted) : wanted_(wanted) {}

  void Show(const BackfillStatus& status) {
    const auto now = std::chrono::steady_clock::now();
    if ((!terminal_ && !wanted_) || now < next_ || status.queries == 0) return;
    const std::string line = report::Printable(ProgressLine(status));
    if (terminal_) {
      next_ = now + kShowEvery;
      constexpr size_t kWidth = 79;
      fmt::print(stderr, "\r{:<{}}", line.substr(0, kWidth), kWidth);
      open_ = true;
    } else {
      next_ = now + kPlainLineEvery;
      fmt::print(stderr, "{}\n", line);
    }
    std::fflush(stderr);
  }
  /// At the end, however short it was.
  void Close(const BackfillStatus& status) {
    if (open_) fmt::print(stderr, "\r{:<79}\r", "");
    if (!terminal_ && wanted_) {
      fmt::print(stderr, "done: {} queries, {} samples\n", status.queries, status.samples);
    }
    open_ = false;
    std::fflush(stderr);
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  const bool wanted_;
  bool open_ = false;
  std::chrono::steady_clock::time_point next_{};
};

/// The outcome; nothing: it was interrupted.
std::optional<RecommendOutcome> RunUntilDone(const RecommendOrder& order) {
  const HeldSignals signals;  // before any thread, so that all of them hold them
  RecommendRun run(order);
  ProgressDisplay display(order.progress);
  std::promise<RecommendOutcome> promise;
  std::future<RecommendOutcome> done = promise.get_future();
  std::jthread worker([&](const std::stop_token& stop) { promise.set_value(run.Run(stop)); });
  bool interrupted = false;
  while (done.wait_for(0s) != std::future_status::ready) {
    display.Show(run.Status());
    if (!signals.WaitFor(kLookEvery)) continue;
    interrupted = true;
    worker.request_stop();
    break;
  }
  worker.join();
  display.Close(run.Status());
  RecommendOutcome outcome = done.get();
  if (interrupted || outcome.why_not.cancelled) return std::nullopt;
  return outcome;
}

bool WantsColor(const RecommendOrder& order) {
  if (order.color != Color::kAuto) return order.color == Color::kAlways;
  const char* const no_color = std::getenv("NO_COLOR");  // https://no-color.org
  const char* const terminal = std::getenv("TERM");
  return order.output_file.empty() && isatty(STDOUT_FILENO) == 1 &&
         (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// Why it could not be written; empty: it is.
std::string WriteOut(const std::string& path, const std::string& text) {
  const auto why = [](int error) { return std::generic_category().message(error); };
  std::unique_ptr<std::FILE, CloseFile> file;
  std::FILE* out = stdout;
  if (!path.empty()) {
    file.reset(std::fopen(path.c_str(), "we"));
    if (!file) return why(errno);
    out = file.get();
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if (!written || std::fflush(out) != 0) return why(errno);
  if (file && std::fclose(file.release()) != 0) return why(errno);
  return "";
}

int Complain(const NoReport& why) {
  fmt::print(stderr, "{}: error: {}\n", kName, report::Printable(why.error));
  if (!why.hints.empty()) fmt::print(stderr, "check that:\n");
  for (const std::string& hint : why.hints) {
    fmt::print(stderr, "  - {}\n", report::Printable(hint));
  }
  return 1;
}

int Tell(const RecommendOrder& order, const RecommendOutcome& outcome) {
  for (const std::string& line : outcome.not_covered) {
    fmt::print(stderr, "warning: {}\n", report::Printable(line));
  }
  if (!outcome.report) return Complain(outcome.why_not);
  const std::string text = report::Write(order.output, *outcome.report, WantsColor(order));
  if (const std::string why = WriteOut(order.output_file, text); !why.empty()) {
    fmt::print(stderr, "{}: error: {}: it cannot be written: {}\n", kName,
               order.output_file.empty() ? "stdout" : order.output_file, why);
    return 1;
  }
  if (!outcome.queries_failed) return 0;
  fmt::print(stderr, "{}: error: part of the history could not be had, see the warnings\n", kName);
  return 1;
}

}  // namespace

int RunRecommendCommand(std::span<const std::string> args) {
  const auto line = ParseCommandLine(RecommendSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(RecommendSpec()) : VersionText("tidetool"));
    return 0;
  }
  signal(SIGPIPE, SIG_IGN);  // a peer that goes away is an error of its socket
  // What a daemon would log of a back-fill is told in this command's own words.
  SetLogSink([](std::string_view) {});
  const auto order = ReadRecommendFlags(*line, ToUnixMs(SystemClock().Now()));
  if (!order) return ReportUsageError(kName, order.error());
  const std::optional<RecommendOutcome> outcome = RunUntilDone(*order);
  if (!outcome) {
    fmt::print(stderr, "{}: interrupted\n", kName);
    return kInterruptedExitCode;
  }
  return Tell(*order, *outcome);
}

}  // namespace tidemark::cmd
