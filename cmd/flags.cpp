#include "cmd/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cmd/build_info.h"
#include "cmd/listen_address.h"
#include "cmd/text.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kMinEvalInterval = 100ms;
constexpr milliseconds kMaxEvalInterval = 1h;
constexpr int64_t kMaxClockStartMs = 9'000'000'000'000;  // 2255: in nanoseconds it fits 64 bits

constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLogLevels = {
    {{"debug", LogLevel::kDebug},
     {"info", LogLevel::kInfo},
     {"warn", LogLevel::kWarn},
     {"error", LogLevel::kError}}};
constexpr std::array<std::pair<std::string_view, LogFormat>, 2> kLogFormats = {
    {{"logfmt", LogFormat::kLogfmt}, {"json", LogFormat::kJson}}};
constexpr std::array<std::pair<std::string_view, storage::SyncMode>, 2> kSyncModes = {
    {{"always", storage::SyncMode::kAlways}, {"interval", storage::SyncMode::kInterval}}};

/// The value that `text` names in `table`.
template <class T, size_t kSize>
Result<void> Choose(std::string_view name, const std::string& text,
                    const std::array<std::pair<std::string_view, T>, kSize>& table, T& out) {
  std::vector<std::string_view> names;
  for (const auto& [key, value] : table) {
    if (key == text) {
      out = value;
      return {};
    }
    names.push_back(key);
  }
  return WrongFlag(
      name, fmt::format("{} is unknown, allowed: {}", Shown(text, text.empty()), Join(names)));
}

Result<void> ReadEvalInterval(const std::string& text, milliseconds& out) {
  const auto interval = ParseDuration(text);
  if (!interval) return WrongFlag("eval.interval", interval.error().message);
  if (*interval < kMinEvalInterval || *interval > kMaxEvalInterval) {
    return WrongFlag("eval.interval", fmt::format("{} is out of range, allowed: {} <= x <= {}",
                                                  text, FormatDuration(kMinEvalInterval),
                                                  FormatDuration(kMaxEvalInterval)));
  }
  out = *interval;
  return {};
}

Result<void> ReadClockStart(const std::string& text, std::optional<TimePoint>& out) {
  int64_t unix_ms = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, unix_ms);
  if (error != std::errc() || end != text_end || unix_ms < 0 || unix_ms > kMaxClockStartMs) {
    return WrongFlag("clock.start",
                     fmt::format("{} is not a time, allowed: milliseconds since 1970, 0 <= x <= {}",
                                 Shown(text, text.empty()), kMaxClockStartMs));
  }
  out = FromUnixMs(unix_ms);
  return {};
}

}  // namespace

CommandSpec FlagsSpec() {
  CommandSpec spec = {
      "tidemark",
      "Recommends resource requests for Kubernetes workloads from what Prometheus sends by "
      "remote write.",
      {{"config.file", R"("")",
        "Configuration file. Empty: built-in configuration, fit for cAdvisor and "
        "kube-state-metrics."},
       {"web.listen-address", R"("0.0.0.0:9849")",
        "Address to listen on for remote write, metrics and API."},
       {"web.config.file", R"("")",
        "TLS, users and headers, in the format of Prometheus' exporter-toolkit. Empty: plain "
        "HTTP, open to all."},
       {"storage.path", R"("./data")",
        "Directory for what outlives a restart: journal and checkpoints. Empty: all state is "
        "in memory only."},
       {"storage.sync", "always",
        "When samples are on the disk itself: always before they are acknowledged, or at an "
        "interval (they then survive the end of the process, not that of the machine). One "
        "of: [always, interval]"},
       {"eval.interval", "15s", "How often recommendations are published. From 100ms to 1h."},
       {"log.level", "info",
        "Only log messages with the given severity or above. One of: [debug, info, warn, "
        "error]"},
       {"log.format", "logfmt", "Output format of log messages. One of: [logfmt, json]"},
       {"clock.start", "UNIX_MS",
        "Start the wall clock at this time, in milliseconds since 1970, and let it run on "
        "from there. For replaying recorded traffic."}},
      {}};
  const auto behind_web = spec.flags.begin() + 3;
  std::vector<FlagSpec> kubernetes = KubernetesFlagSpecs();
  spec.flags.insert(behind_web, std::make_move_iterator(kubernetes.begin()),
                    std::make_move_iterator(kubernetes.end()));
  return spec;
}

Result<Flags> ParseFlags(std::span<const std::string> args) {
  const CommandSpec spec = FlagsSpec();
  const auto line = ParseCommandLine(spec, args);
  if (!line) return tl::unexpected(line.error());
  Flags flags;
  if (line->help)
    flags.answer = HelpText(spec);
  else if (line->version)
    flags.answer = VersionText(spec.name);
  if (flags.answer) return flags;

  const std::map<std::string_view, std::function<Result<void>(const std::string&)>> readers = {
      {"config.file",
       [&](const std::string& text) -> Result<void> {
         flags.config_file = text;
         return {};
       }},
      {"web.listen-address",
       [&](const std::string& text) -> Result<void> {
         if (auto good = CheckListenAddress(text); !good)
           return WrongFlag("web.listen-address", good.error().message);
         flags.web_listen_address = text;
         return {};
       }},
      {"web.config.file",
       [&](const std::string& text) -> Result<void> {
         flags.web_config_file = text;
         return {};
       }},
      {"storage.path",
       [&](const std::string& text) -> Result<void> {
         flags.storage_path = text;
         return {};
       }},
      {"storage.sync",
       [&](const std::string& text) {
         return Choose("storage.sync", text, kSyncModes, flags.storage_sync);
       }},
      {"eval.interval",
       [&](const std::string& text) { return ReadEvalInterval(text, flags.eval_interval); }},
      {"log.level",
       [&](const std::string& text) {
         return Choose("log.level", text, kLogLevels, flags.log_level);
       }},
      {"log.format",
       [&](const std::string& text) {
         return Choose("log.format", text, kLogFormats, flags.log_format);
       }},
      {"clock.start",
       [&](const std::string& text) { return ReadClockStart(text, flags.clock_start); }}};
  auto kubernetes = ReadKubernetesFlags(line->flags);
  if (!kubernetes) return tl::unexpected(kubernetes.error());
  flags.kubernetes = *std::move(kubernetes);
  for (const auto& [name, text] : line->flags) {
    if (name.starts_with("kubernetes.")) continue;
    if (auto done = readers.at(name)(text); !done) return tl::unexpected(done.error());
  }
  return flags;
}

int ReportUsageError(std::string_view program, const Error& error) {
  fmt::print(stderr, "{}: error: {}\n", program, error.message);
  return kUsageExitCode;
}

}  // namespace tidemark::cmd
