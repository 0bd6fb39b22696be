#include "cmd/demo_cluster_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "cmd/build_info.h"
#include "cmd/flags.h"
#include "cmd/listen_address.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kName = "tidetool demo-cluster";
constexpr double kMaxSpeed = 1000;

/// The whole of `text` as a number; false when it is none.
template <class T>
bool ToNumber(const std::string& text, T& out) {
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, out);
  return error == std::errc() && end == text_end;
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
            "come that much faster."}},
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
    }
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
