#include "cmd/demo_cluster_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/listen_address.h"
#include "cmd/text.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kName = "tidetool demo-cluster";
constexpr double kMaxSpeed = 1000;
constexpr std::chrono::milliseconds kMaxHistory = std::chrono::days(30);

/// The whole of `text` as a number; false when it is none.
template <class T>
bool ToNumber(const std::string& text, T& out) {
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, out);
  return error == std::errc() && end == text_end;
}

/// Between a minute and `most`.
Result<std::chrono::milliseconds> ReadDuration(std::string_view name, const std::string& text,
                                               std::chrono::milliseconds most) {
  const auto duration = ParseDuration(text);
  if (!duration) return WrongFlag(name, duration.error().message);
  if (*duration < 1min || *duration > most) {
    return WrongFlag(
        name, fmt::format("{} is out of range, allowed: 1m to {}", text, FormatDuration(most)));
  }
  return *duration;
}

}  // namespace

CommandSpec DemoClusterSpec() {
  const demo_cluster::DemoClusterOptions defaults;
  return {std::string(kName),
          "Serve cAdvisor and kube-state-metrics style metrics of a small simulated cluster.",
          {{"web.listen-address", fmt::format("\"{}\"", defaults.listen_address),
            "Address to serve the metrics on."},
           {"seed", fmt::format("{}", defaults.seed), "Another seed is another cluster."},
           {"speed", fmt::format("{}", defaults.speed),
            "Simulated seconds per second, above 0 and at most 1000: daily waves, leaks, releases "
            "and scheduled jobs "
            "come that much faster."},
           {"history.file", "<path>",
            "Before serving, write here what the cluster's past looked like to a Prometheus that "
            "scraped it, as OpenMetrics for promtool tsdb create-blocks-from openmetrics. The "
            "served cluster goes on where it ends."},
           {"history.length", FormatDuration(defaults.history_length),
            "How long that past is: 1m to 30d."},
           {"history.step", FormatDuration(defaults.history_step),
            "From one of its samples to the next: whole minutes, 1m to 1h."}},
          {}};
}

Result<demo_cluster::DemoClusterOptions> ReadDemoClusterFlags(const CommandLine& line) {
  demo_cluster::DemoClusterOptions options;
  for (const auto& [name, text] : line.flags) {
    if (name == "web.listen-address") {
      if (auto good = CheckListenAddress(text); !good) return WrongFlag(name, good.error().message);
      options.listen_address = text;
    } else if (name == "seed") {
      if (!ToNumber(text, options.seed)) {
        return WrongFlag(name, fmt::format("{} is not a seed, allowed: 0 <= x <= {}",
                                           Shown(text, text.empty()), UINT64_MAX));
      }
    } else if (name == "speed") {
      if (!ToNumber(text, options.speed) || !std::isfinite(options.speed) || options.speed <= 0 ||
          options.speed > kMaxSpeed) {
        return WrongFlag(name, fmt::format("{} is not a speed, allowed: 0 < x <= {}",
                                           Shown(text, text.empty()), kMaxSpeed));
      }
    } else if (name == "history.file") {
      if (text.empty()) return WrongFlag(name, "\"\" is no file, allowed: a path");
      options.history_file = text;
    } else if (name == "history.length") {
      const auto length = ReadDuration(name, text, kMaxHistory);
      if (!length) return tl::unexpected(length.error());
      options.history_length = *length;
    } else if (name == "history.step") {
      const auto step = ReadDuration(name, text, 1h);
      if (!step) return tl::unexpected(step.error());
      if (*step % 1min != 0ms) {
        return WrongFlag(name,
                         fmt::format("{} is no whole number of minutes, allowed: 1m to 1h", text));
      }
      options.history_step = std::chrono::duration_cast<std::chrono::minutes>(*step);
    }
  }
  if (options.history_length < options.history_step) {
    return WrongFlag(
        "history.length",
        fmt::format("{} is too short, allowed: at least --history.step, which is {}",
                    FormatDuration(options.history_length), FormatDuration(options.history_step)));
  }
  return options;
}

int RunDemoClusterCommand(std::span<const std::string> args) {
  const auto line = ParseCommandLine(DemoClusterSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(DemoClusterSpec()) : VersionText("tidetool"));
    return 0;
  }
  const auto options = ReadDemoClusterFlags(*line);
  if (!options) return ReportUsageError(kName, options.error());
  return demo_cluster::RunDemoCluster(*options);
}

}  // namespace tidemark::cmd
