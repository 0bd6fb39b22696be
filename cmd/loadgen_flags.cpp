#include "cmd/loadgen_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/held_signals.h"
#include "cmd/loadgen/run.h"
#include "cmd/text.h"
#include "cmd/units.h"
#include "model/clock.h"

namespace tidemark::cmd {
namespace {

using loadgen::LoadOptions;

constexpr std::string_view kName = "tidetool loadgen";
constexpr uint64_t kMaxContainers = 10'000'000;
constexpr uint64_t kMaxSeries = 100'000'000;
constexpr uint64_t kDefaultRounds = 20;
/// 2286: by then Unix time in milliseconds has 14 digits.
constexpr uint64_t kMaxTimeMs = 9'999'999'999'999;
constexpr uint64_t kMinTimeMs = 1'000'000'000'000;

template <class T>
bool ToNumber(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

tl::unexpected<Error> Wrong(std::string_view name, const std::string& text, std::string_view what) {
  return WrongFlag(name, fmt::format("{} is not {}", Shown(text, text.empty()), what));
}

template <class T>
Result<void> ReadWhole(std::string_view name, const std::string& text, uint64_t least,
                       uint64_t most, T& out) {
  uint64_t value = 0;
  if (!ToNumber(text, value) || value < least || value > most) {
    return Wrong(name, text, fmt::format("a good number, allowed: {} <= x <= {}", least, most));
  }
  out = static_cast<T>(value);
  return {};
}

Result<void> ReadAmount(std::string_view name, const std::string& text, double most, double& out) {
  if (!ToNumber(text, out) || !std::isfinite(out) || out < 0 || out > most) {
    return Wrong(name, text, fmt::format("a good number, allowed: 0 <= x <= {}", most));
  }
  return {};
}

Result<void> ReadDuration(std::string_view name, const std::string& text,
                          std::chrono::milliseconds least, std::chrono::milliseconds& out) {
  const auto duration = ParseDuration(text);
  if (!duration) return WrongFlag(name, duration.error().message);
  if (*duration < least) {
    return Wrong(name, text,
                 fmt::format("long enough, allowed: at least {}", FormatDuration(least)));
  }
  out = *duration;
  return {};
}

std::string Base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < text.size(); i += 3) {
    const std::string_view part = text.substr(i, 3);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < part.size() ? static_cast<unsigned char>(part[j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      out.push_back(j <= part.size() ? kDigits[bits >> (18 - 6 * j) & 63] : '=');
    }
  }
  return out;
}

bool IsHeaderValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\t' || (c >= ' ' && c != 0x7f); });
}

Result<void> ReadHeader(std::string_view name, const std::string& text, LoadOptions& options) {
  const size_t colon = text.find(':');
  const std::string header = text.substr(0, colon);
  const bool is_token = !header.empty() && std::all_of(header.begin(), header.end(), [](char c) {
    return c > ' ' && c < 0x7f &&
           std::string_view("\"(),/:;<=>?@[\\]{}").find(c) == std::string_view::npos;
  });
  if (colon == std::string::npos || !is_token || !IsHeaderValue(text)) {
    return Wrong(name, text, "a header, allowed: NAME: VALUE");
  }
  const size_t begin = text.find_first_not_of(" \t", colon + 1);
  options.headers.emplace_back(header, begin == std::string::npos ? "" : text.substr(begin));
  return {};
}

Result<void> ReadFlag(std::string_view name, const std::string& text, LoadOptions& options) {
  using std::chrono::milliseconds;
  if (name == "url") {
    auto target = loadgen::ParseTarget(text);
    if (!target) return WrongFlag(name, target.error().message);
    options.target = *std::move(target);
    return {};
  }
  if (name == "protocol") {
    if (text != "1.0" && text != "2.0") return Wrong(name, text, "a protocol, allowed: 1.0, 2.0");
    options.protocol = text == "2.0" ? loadgen::Protocol::kV2 : loadgen::Protocol::kV1;
    return {};
  }
  if (name == "containers") return ReadWhole(name, text, 1, kMaxContainers, options.containers);
  if (name == "series") return ReadWhole(name, text, 100, kMaxSeries, options.series);
  if (name == "connections") return ReadWhole(name, text, 1, 1000, options.connections);
  if (name == "rate") return ReadAmount(name, text, 1e9, options.rate);
  if (name == "rounds") return ReadWhole(name, text, 1, UINT32_MAX, options.rounds);
  if (name == "duration") return ReadDuration(name, text, milliseconds(1), options.duration);
  if (name == "interval") return ReadDuration(name, text, milliseconds(100), options.interval);
  if (name == "churn") return ReadAmount(name, text, 1000, options.churn_per_hour);
  if (name == "samples-per-request") {
    return ReadWhole(name, text, 1, 1'000'000, options.samples_per_request);
  }
  if (name == "start") {
    int64_t start = 0;
    auto read = ReadWhole(name, text, kMinTimeMs, kMaxTimeMs, start);
    if (read) options.start_ms = start;
    return read;
  }
  if (name == "seed") return ReadWhole(name, text, 0, UINT64_MAX, options.seed);
  if (name == "header") return ReadHeader(name, text, options);
  if (name == "basic-auth") {
    if (text.find(':') == std::string::npos) {
      return Wrong(name, text, "a user, allowed: USER:PASSWORD");
    }
    options.headers.emplace_back("Authorization", "Basic " + Base64(text));
    return {};
  }
  if (name == "bearer-token") {
    if (text.empty() || !IsHeaderValue(text))
      return Wrong(name, text, "a token, allowed: one line");
    options.headers.emplace_back("Authorization", "Bearer " + text);
    return {};
  }
  if (name == "on-503") {
    if (text != "retry" && text != "drop") return Wrong(name, text, "known, allowed: retry, drop");
    options.retry_on_503 = text == "retry";
    return {};
  }
  if (name == "max-retry-wait") {
    return ReadDuration(name, text, milliseconds(0), options.max_retry_wait);
  }
  if (name == "retry-for") return ReadDuration(name, text, milliseconds(0), options.retry_for);
  if (text != "text" && text != "json") return Wrong(name, text, "known, allowed: text, json");
  options.json = text == "json";
  return {};
}

}  // namespace

CommandSpec LoadgenSpec() {
  const LoadOptions defaults;
  return {
      std::string(kName),
      "Write the series of a made-up cluster to a remote-write receiver and say how it took them.",
      {{"url", "\"http://127.0.0.1:9849/api/v1/write\"", "Where to write to, plain HTTP."},
       {"protocol", "1.0", "Of remote write: 1.0 or 2.0."},
       {"containers", fmt::format("{}", defaults.containers), "Containers of the cluster."},
       {"series", "N", "Instead: as many containers as stay within that many series."},
       {"connections", fmt::format("{}", defaults.connections),
        "Keep-alive connections; a series always goes over the same one."},
       {"rate", "0",
        "Samples per second, sent by schedule whatever the answers say. 0: flat out, each "
        "connection waits for its answer."},
       {"rounds", "N",
        fmt::format("How many samples each series gets. Without it and --duration: {}.",
                    kDefaultRounds)},
       {"duration", "D", "How long to send, e.g. 30s."},
       {"interval", FormatDuration(defaults.interval), "Sample time from round to round."},
       {"churn", "0",
        "Share of the pods that is replaced in an hour of sample time, e.g. 0.1. May be above 1."},
       {"samples-per-request", fmt::format("{}", defaults.samples_per_request),
        "Samples in a request."},
       {"start", "UNIX_MS",
        "Sample time of the first round. Default: so that sample times end with the run at the "
        "wall clock; flat out and bounded by time alone, a day back, and the run ends where they "
        "reach the wall clock."},
       {"seed", fmt::format("{}", defaults.seed),
        "Another seed is another cluster. The same seed goes on with the series of an earlier "
        "run."},
       {"header", "\"NAME: VALUE\"", "An additional header."},
       {"basic-auth", "USER:PASSWORD", "Basic authentication."},
       {"bearer-token", "TOKEN", "Bearer authentication."},
       {"on-503", "retry",
        "After any 5xx or no answer: retry when Retry-After has passed (5s without it), or drop."},
       {"max-retry-wait", FormatDuration(defaults.max_retry_wait), "Wait no longer than this."},
       {"retry-for", FormatDuration(defaults.retry_for),
        "How long one request is tried again before it is given up."},
       {"output", "text", "text, or json for one line."}},
      {}};
}

Result<LoadOptions> ReadLoadgenFlags(const CommandLine& line) {
  LoadOptions options;
  for (const auto& [name, text] : line.flags) {
    if (auto read = ReadFlag(name, text, options); !read) return tl::unexpected(read.error());
  }
  for (const auto& [one, other] :
       {std::pair("containers", "series"), std::pair("basic-auth", "bearer-token")}) {
    if (line.flags.contains(one) && line.flags.contains(other)) {
      return WrongFlag(one,
                       fmt::format("cannot stand beside --{}, allowed: one of the two", other));
    }
  }
  if (options.rounds == 0 && options.duration.count() == 0) options.rounds = kDefaultRounds;
  return options;
}

int RunLoadgenCommand(std::span<const std::string> args) {
  const auto line = ParseCommandLine(LoadgenSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(LoadgenSpec()) : VersionText("tidetool"));
    return 0;
  }
  const auto options = ReadLoadgenFlags(*line);
  if (!options) return ReportUsageError(kName, options.error());
  const HeldSignals signals;
  const SystemClock clock;
  const auto report = loadgen::RunLoad(
      *options, clock, [&signals] { return signals.WaitFor(std::chrono::milliseconds(20)); });
  if (!report) {
    fmt::print(stderr, "{}: error: {}\n", kName, report.error().message);
    return 1;
  }
  fmt::print("{}", options->json ? ReportJson(*options, *report) : ReportText(*options, *report));
  return report->AllAcknowledged() ? 0 : 1;
}

}  // namespace tidemark::cmd
