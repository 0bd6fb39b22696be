#include "cmd/backfill_command.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "client/http_client.h"
#include "cmd/backfill_flags.h"
#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/held_signals.h"
#include "model/clock.h"

namespace tidemark::cmd {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::string_view kName = "tidetool backfill";
constexpr auto kPollEvery = 500ms;
constexpr auto kPlainLineEvery = 10s;
constexpr auto kDaemonPatience = 60s;  // a restart of the daemon is waited out
constexpr unsigned kBadRequest = 400;
constexpr unsigned kConflict = 409;

/// What the command shows of GET /api/v1/status/backfill.
struct ShownStatus {
  std::string state;
  std::string error;
  std::string trouble;
  std::string current;
  double progress_ratio = 0;
  double eta_seconds = -1;
  int64_t namespaces_done = 0;
  int64_t namespaces_total = 0;
  int64_t samples = 0;
  int64_t containers = 0;
  int64_t minutes = 0;
  int64_t not_covered_total = 0;
  std::vector<std::string> not_covered;
  std::vector<std::string> notes;
};

const json::value* Member(const json::value& object, const char* key) {
  return object.is_object() ? object.get_object().if_contains(key) : nullptr;
}

std::string TextOf(const json::value& object, const char* key) {
  const json::value* const found = Member(object, key);
  if (found == nullptr || !found->is_string()) return "";
  return {found->get_string().data(), found->get_string().size()};
}

double NumberOf(const json::value& object, const char* key, double otherwise) {
  const json::value* const found = Member(object, key);
  return found != nullptr && found->is_number() ? found->to_number<double>() : otherwise;
}

std::vector<std::string> LinesOf(const json::value& object, const char* key) {
  std::vector<std::string> lines;
  const json::value* const found = Member(object, key);
  if (found == nullptr || !found->is_array()) return lines;
  for (const json::value& line : found->get_array()) {
    if (line.is_string()) lines.emplace_back(line.get_string().data(), line.get_string().size());
  }
  return lines;
}

std::optional<ShownStatus> ReadStatus(std::string_view body) {
  json::error_code wrong;
  const json::value answer = json::parse(json::string_view(body.data(), body.size()), wrong);
  const json::value* const data = wrong ? nullptr : Member(answer, "data");
  if (data == nullptr) return std::nullopt;
  const auto whole = [&](const char* key) {
    return static_cast<int64_t>(std::clamp(NumberOf(*data, key, 0), 0.0, 9e18));
  };
  return ShownStatus{.state = TextOf(*data, "state"),
                     .error = TextOf(*data, "error"),
                     .trouble = TextOf(*data, "trouble"),
                     .current = TextOf(*data, "current"),
                     .progress_ratio = NumberOf(*data, "progress_ratio", 0),
                     .eta_seconds = NumberOf(*data, "eta_seconds", -1),
                     .namespaces_done = whole("namespaces_done"),
                     .namespaces_total = whole("namespaces_total"),
                     .samples = whole("samples"),
                     .containers = whole("containers"),
                     .minutes = whole("minutes"),
                     .not_covered_total = whole("not_covered_total"),
                     .not_covered = LinesOf(*data, "not_covered"),
                     .notes = LinesOf(*data, "notes")};
}

std::string LeftText(double eta_seconds) {
  if (eta_seconds < 0) return "unknown";
  const auto seconds = static_cast<int64_t>(std::min(eta_seconds, 1e9)) + 1;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{}m", seconds / 3600, seconds / 60 % 60);
}

std::string ProgressLine(const ShownStatus& shown) {
  if (!shown.trouble.empty()) {
    return fmt::format("{:5.1f}%  asks again: {}", shown.progress_ratio * 100, shown.trouble);
  }
  return fmt::format("{:5.1f}%  left {}  namespaces {}/{}  samples {}{}{}",
                     shown.progress_ratio * 100, LeftText(shown.eta_seconds), shown.namespaces_done,
                     shown.namespaces_total, shown.samples, shown.current.empty() ? "" : "  ",
                     shown.current);
}

/// One line that moves on a terminal, plain lines now and then elsewhere.
class Display {
 public:
  void Show(const ShownStatus& shown) {
    const std::string line = ProgressLine(shown);
    if (terminal_) {
      constexpr size_t kWidth = 100;
      fmt::print("\r{:<{}}", line.substr(0, kWidth), kWidth);
      open_ = true;
    } else {
      const auto now = std::chrono::steady_clock::now();
      if (now < next_) return;
      next_ = now + kPlainLineEvery;
      fmt::print("{}\n", line);
    }
    std::fflush(stdout);
  }
  void Close() {
    if (open_) fmt::print("\n");
    open_ = false;
    std::fflush(stdout);
  }

 private:
  const bool terminal_ = isatty(STDOUT_FILENO) == 1;
  bool open_ = false;
  std::chrono::steady_clock::time_point next_{};
};

int Complain(std::string_view message, int code = 1) {
  fmt::print(stderr, "{}: error: {}\n", kName, message);
  return code;
}

/// What the daemon answered in its own words, where it did.
std::string Words(const client::Fault& fault) {
  return fault.server_text.empty()
             ? fault.message
             : fmt::format("the daemon answers {}: {}", fault.status, fault.server_text);
}

/// At the end of a job; the exit code.
int Report(const ShownStatus& shown) {
  for (const std::string& note : shown.notes) fmt::print("note: {}\n", note);
  fmt::print(
      "{}: {} of {} namespaces, {} containers with history, {} minutes of usage, {} samples\n",
      shown.state, shown.namespaces_done, shown.namespaces_total, shown.containers, shown.minutes,
      shown.samples);
  std::fflush(stdout);
  for (const std::string& line : shown.not_covered) fmt::print(stderr, "not covered: {}\n", line);
  const auto listed = static_cast<int64_t>(shown.not_covered.size());
  if (shown.not_covered_total > listed) {
    fmt::print(stderr, "not covered: {} more\n", shown.not_covered_total - listed);
  }
  if (shown.state != "finished") {
    return Complain(fmt::format("{}{}{}; asked again, it goes on behind what is in", shown.state,
                                shown.error.empty() ? "" : ": ", shown.error));
  }
  return shown.not_covered_total > 0 ? 1 : 0;
}

int Follow(client::HttpClient& daemon, const HeldSignals& signals) {
  Display display;
  auto heard = std::chrono::steady_clock::now();
  for (;;) {
    const auto answer = daemon.Fetch({.method = "GET", .path = "/api/v1/status/backfill"});
    const auto now = std::chrono::steady_clock::now();
    if (answer) {
      const std::optional<ShownStatus> shown = ReadStatus(answer->body);
      if (!shown) return display.Close(), Complain("what answers is not the status of a back-fill");
      heard = now;
      if (shown->state != "running") return display.Close(), Report(*shown);
      display.Show(*shown);
    } else if (now - heard > kDaemonPatience) {
      return display.Close(), Complain(Words(answer.error()));
    }
    if (signals.WaitFor(kPollEvery)) {
      display.Close();
      fmt::print("the daemon goes on; to end it: tidetool backfill --cancel\n");
      return 1;
    }
  }
}

int Run(const BackfillOrder& order) {
  auto opened = client::HttpClient::Open(order.tidemark);
  if (!opened) return ReportUsageError(kName, opened.error());
  client::HttpClient& daemon = **opened;
  if (order.cancel) {
    const auto answer = daemon.Fetch({.method = "DELETE", .path = "/api/v1/backfill"});
    if (!answer) return Complain(Words(answer.error()));
    fmt::print("cancelled; asked for again, it goes on behind what is in\n");
    return 0;
  }
  const auto answer = daemon.Fetch({.method = "POST",
                                    .path = "/api/v1/backfill",
                                    .content_type = "application/json",
                                    .body = order.body});
  if (!answer && answer.error().status == kConflict) {
    const HeldSignals signals;  // before it is said that somebody may interrupt
    fmt::print(
        "a back-fill is running already, this is how far it is; to end it: tidetool backfill "
        "--cancel\n");
    std::fflush(stdout);
    if (order.detach) return 1;
    return Follow(daemon, signals);
  }
  if (!answer) {
    const bool usage = answer.error().status == kBadRequest;
    return Complain(Words(answer.error()), usage ? kUsageExitCode : 1);
  }
  if (answer->body.find("\"resumed\":true") != std::string::npos) {
    fmt::print("goes on with the unfinished job of this URL; --restart begins anew\n");
  }
  if (order.detach) return 0;
  const HeldSignals signals;
  return Follow(daemon, signals);
}

}  // namespace

int RunBackfillCommand(std::span<const std::string> args) {
  const auto line = ParseCommandLine(BackfillSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(BackfillSpec()) : VersionText("tidetool"));
    return 0;
  }
  signal(SIGPIPE, SIG_IGN);  // a peer that goes away is an error of its socket
  const auto order = ReadBackfillFlags(*line, ToUnixMs(SystemClock().Now()));
  if (!order) return ReportUsageError(kName, order.error());
  return Run(*order);
}

}  // namespace tidemark::cmd
