#include "cmd/replay_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "cmd/config.h"
#include "cmd/prometheus_access.h"
#include "cmd/text.h"
#include "cmd/time_flags.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;
using replay_requests::PrometheusSource;

constexpr std::string_view kName = "tidetool replay";
constexpr std::string_view kRequests = "requests";
constexpr std::string_view kDefaultPresets = "vpa,oversell,tidemark,krr,max";
constexpr auto kDefaultRange = 10 * 24h;
constexpr auto kLongest = 366 * 24h;

/// Those that go with --prometheus alone.
constexpr std::array<std::string_view, 7> kPrometheusFlags = {
    "query-cpu", "query-memory", "namespace", "workload", "start", "end", "step"};

/// `0.01`, or with `percent` also `1%`.
Result<std::optional<double>> ReadTarget(const GivenFlags& flags, std::string_view name,
                                         double most, bool percent) {
  if (!flags.contains(name)) return std::optional<double>();
  const std::string text = FlagValue(flags, name);
  std::string_view digits = text;
  const bool in_percent = percent && digits.ends_with('%');
  if (in_percent) digits.remove_suffix(1);
  double value = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (in_percent) value /= 100;
  if (wrong != std::errc() || end != digits.data() + digits.size() || !(value > 0) ||
      !(value <= most)) {
    return WrongFlag(
        name, fmt::format(
                  "{} is no good target, allowed: {}", Shown(text, text.empty()),
                  percent ? "above 0 to 50%, such as 1% or 0.01" : "above 0 to 100, such as 0.1"));
  }
  return std::optional(value);
}

Result<void> ReadRange(const GivenFlags& flags, int64_t now_ms, PrometheusSource& source) {
  const auto end = ReadTime(flags, "end", now_ms, now_ms);
  if (!end) return tl::unexpected(end.error());
  const auto start =
      ReadTime(flags, "start", *end - std::chrono::milliseconds(kDefaultRange).count(), now_ms);
  if (!start) return tl::unexpected(start.error());
  const auto step = ReadDuration(flags, "step", source.step_ms,
                                 std::chrono::milliseconds(replay_requests::kMinStepMs),
                                 std::chrono::milliseconds(replay_requests::kMaxStepMs));
  if (!step) return tl::unexpected(step.error());
  source.start_ms = *start;
  source.end_ms = *end;
  source.step_ms = *step;
  const std::chrono::milliseconds range(source.end_ms - source.start_ms);
  if (source.start_ms < 0 || range.count() < 2 * source.step_ms || range > kLongest) {
    return WrongFlag("start", fmt::format("the time from --start to --end is not in range, "
                                          "allowed: two steps to {}",
                                          FormatDuration(kLongest)));
  }
  return {};
}

Result<PrometheusSource> ReadPrometheus(const GivenFlags& flags, int64_t now_ms) {
  PrometheusSource source;
  if (auto good = ReadPrometheusServer(flags, source.http); !good) {
    return tl::unexpected(good.error());
  }
  source.cpu_query = FlagValue(flags, "query-cpu");
  source.memory_query = FlagValue(flags, "query-memory");
  source.name_space = FlagValue(flags, "namespace");
  source.workload = FlagValue(flags, "workload");
  if (source.cpu_query.empty() != source.memory_query.empty()) {
    return WrongFlag(source.cpu_query.empty() ? "query-memory" : "query-cpu",
                     "it is alone, allowed: --query-cpu and --query-memory together");
  }
  if (!source.cpu_query.empty() && !(source.name_space.empty() && source.workload.empty())) {
    return WrongFlag(source.name_space.empty() ? "workload" : "namespace",
                     "it does not go with --query-cpu, allowed: one of them");
  }
  if (auto good = ReadRange(flags, now_ms, source); !good) return tl::unexpected(good.error());
  return source;
}

Result<void> ReadSource(const GivenFlags& flags, int64_t now_ms, ReplayOrder& order) {
  order.traces = FlagValue(flags, "traces");
  const bool asks = !FlagValue(flags, "prometheus").empty();
  if (asks == !order.traces.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                asks ? "--prometheus: it does not go with --traces, allowed: one of them"
                     : "nothing to replay, allowed: --traces=PATH or --prometheus=URL");
  }
  if (asks) {
    auto source = ReadPrometheus(flags, now_ms);
    if (!source) return tl::unexpected(source.error());
    order.prometheus = *std::move(source);
    return {};
  }
  for (const std::string_view name : kPrometheusFlags) {
    if (!flags.contains(name)) continue;
    return WrongFlag(name, "it does not go with --traces, allowed: with --prometheus");
  }
  for (const FlagSpec& flag : PrometheusAccessFlags()) {
    if (!flags.contains(flag.name)) continue;
    return WrongFlag(flag.name, "it does not go with --traces, allowed: with --prometheus");
  }
  return {};
}

Result<void> ReadPresets(const GivenFlags& flags, ReplayOrder& order) {
  ProfileSetPtr config;
  if (const std::string file = FlagValue(flags, "config.file"); !file.empty()) {
    auto loaded = LoadConfig(file);
    if (!loaded) return tl::unexpected(loaded.error());
    config = loaded->engine.profiles;
  }
  const std::string given = FlagValue(flags, "preset");
  // Who gives a file wants to see it.
  const std::string otherwise =
      config == nullptr ? std::string(kDefaultPresets) : fmt::format("{},config", kDefaultPresets);
  auto presets = replay_requests::ParsePresets(flags.contains("preset") ? given : otherwise, config,
                                               flags.contains("as-published"));
  if (!presets) return WrongFlag("preset", presets.error().message);
  order.presets = *std::move(presets);
  return {};
}

Result<void> ReadOptions(const GivenFlags& flags, replay_requests::ReplayOptions& options) {
  const auto interval = ReadDuration(flags, "interval", options.times.interval_ms, 1min, kLongest);
  if (!interval) return tl::unexpected(interval.error());
  const auto warm_up = ReadDuration(flags, "warm-up", options.times.warm_up_ms, 1min, kLongest);
  if (!warm_up) return tl::unexpected(warm_up.error());
  options.times = {.interval_ms = *interval, .warm_up_ms = *warm_up};
  const auto breach = ReadTarget(flags, "at-breach", 0.5, true);
  if (!breach) return tl::unexpected(breach.error());
  const auto kills = ReadTarget(flags, "at-kills", 100, false);
  if (!kills) return tl::unexpected(kills.error());
  options.at_breach = *breach;
  options.at_kills = *kills;
  return {};
}

Result<ReplayOutput> ReadOutput(const GivenFlags& flags) {
  const std::string text = flags.contains("output") ? FlagValue(flags, "output") : "table";
  if (text == "table") return ReplayOutput::kTable;
  if (text == "json") return ReplayOutput::kJson;
  if (text == "html") return ReplayOutput::kHtml;
  return WrongFlag("output", fmt::format("{} is no form of output, allowed: table, json, html",
                                         Shown(text, text.empty())));
}

}  // namespace

CommandSpec ReplaySpec() {
  CommandSpec spec = {
      std::string(kName),
      "Replay recorded usage through presets: what they would have requested, and what that would "
      "have cost and risked. docs/requests.md says what the figures mean.",
      {{"traces", "PATH",
        "A CSV file (unix_seconds,pod,cpu_cores,memory_bytes), or a folder of them."},
       {"prometheus", "URL",
        "Instead: a Prometheus-compatible API with cAdvisor's and kube-state-metrics' metrics."},
       {"namespace", "NAME", "Of --prometheus: only this namespace."},
       {"workload", "NAME", "Of --prometheus: only this workload; NAME or TYPE/NAME."},
       {"query-cpu", "PROMQL",
        "Of --prometheus: cores by pod, instead of cAdvisor's; with --query-memory."},
       {"query-memory", "PROMQL", "Of --prometheus: bytes by pod."},
       {"start", "TIME",
        "Of --prometheus: RFC 3339, seconds since 1970, or a duration ago such as 30d. "
        "Default: 10d before the end."},
       {"end", "TIME", "The same. Default: now."},
       {"step", "5m", "Of --prometheus: between two samples, 1m to 1h."},
       {"preset", std::string(kDefaultPresets),
        "What to replay, comma-separated: " + Join(replay_requests::PresetNames()) + "."},
       {"config.file", "PATH",
        "A configuration of the daemon, whose profiles are the preset config."},
       {"as-published", "",
        "vpa and oversell as their originals were measured: vpa to the letter and without a pod's "
        "minimum, oversell before it is rounded to whole amounts and without kills."},
       {"interval", "1h",
        "Between two requests; a multiple of the step. From 24h on requests are taken to go to new "
        "pods, and preset tidemark goes by the days."},
       {"warm-up", "48h", "Before the first request."},
       {"at-breach", "SHARE",
        "Also compare CPU at equal risk: turn each preset's own knob until so much of the samples, "
        "such as 1%, are above the request."},
       {"at-kills", "NUMBER",
        "Also compare memory at equal risk: so many kills per pod and day, such as 0.1."},
       {"output", "table", "table, json or html."},
       {"output.file", "PATH", "Where to write it. Default: standard output."}},
      {{"what", "requests."}}};
  for (FlagSpec& flag : PrometheusAccessFlags()) spec.flags.push_back(std::move(flag));
  return spec;
}

Result<ReplayOrder> ReadReplayFlags(const CommandLine& line, int64_t now_ms) {
  if (line.arguments.front() != kRequests) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} cannot be replayed, allowed: {}",
                    Shown(line.arguments.front(), line.arguments.front().empty()), kRequests));
  }
  ReplayOrder order;
  if (auto good = ReadSource(line.flags, now_ms, order); !good) return tl::unexpected(good.error());
  if (auto good = ReadPresets(line.flags, order); !good) return tl::unexpected(good.error());
  if (auto good = ReadOptions(line.flags, order.options); !good) {
    return tl::unexpected(good.error());
  }
  for (replay_requests::ReplayPreset& preset : order.presets) {
    preset = ForInterval(std::move(preset), order.options.times.interval_ms);
  }
  const auto output = ReadOutput(line.flags);
  if (!output) return tl::unexpected(output.error());
  order.output = *output;
  order.output_file = FlagValue(line.flags, "output.file");
  return order;
}

}  // namespace tidemark::cmd
