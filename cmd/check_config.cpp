#include "cmd/check_config.h"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "cmd/build_info.h"
#include "cmd/config.h"
#include "cmd/explain_profile.h"
#include "cmd/explain_scaling.h"
#include "cmd/flags.h"
#include "workloads/sources.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kName = "tidetool check-config";

std::string Summary(const Config& config) {
  const workloads::SourceTable table(config.sources, config.engine.profiles->resources());
  return fmt::format(
      "{} profiles; {} rules of forecasts, {} of scaling; {} sources in force, {} "
      "lines from the file; at most {} series",
      config.engine.profiles->profiles().size(), config.engine.forecast->rules.size(),
      config.engine.scaling->rules.size(), table.size(), config.sources.size(),
      config.engine.max_series);
}

}  // namespace

CommandSpec CheckConfigSpec() {
  return {
      std::string(kName),
      "Check whether a configuration file is good.",
      {{"dump", "", "Print the whole configuration that results, every key written out, as YAML."},
       {"explain", "NAMESPACE/TYPE/NAME",
        "Print which profile applies to this workload, why, its rules, and where each of their "
        "values comes from; what is forecast of it, and how its replicas are decided."},
       {"container", "NAME",
        "Of --explain: the container. Needed where profiles select by container."},
       {"cluster", "NAME", "Of --explain: the workload's cluster, where series have that label."},
       {"pod-labels", "{label_NAME=\"VALUE\", ...}",
        "Of --explain: labels of its pods, named as kube_pod_labels names them."}},
      {{"file", "The configuration file to check."}}};
}

int RunCheckConfig(std::span<const std::string> args) {
  const auto line = ParseCommandLine(CheckConfigSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(CheckConfigSpec()) : VersionText("tidetool"));
    return 0;
  }
  const auto question = ProfileQuestionOf(line->flags);
  if (!question) return ReportUsageError(kName, question.error());
  const bool dump = line->flags.contains("dump");
  if (dump && *question) {
    return ReportUsageError(
        kName, WrongFlag("dump", "it does not go with --explain, allowed: one of them").value());
  }
  const std::string& file = line->arguments.front();
  const auto config = LoadConfig(file);
  if (!config) return ReportUsageError(kName, config.error());
  if (*question) {
    const auto text = ExplainProfile(*config, **question);
    if (!text) return ReportUsageError(kName, text.error());
    fmt::print("{}", *text);
  } else if (dump) {
    fmt::print("{}", DumpConfig(*config));
  } else {
    fmt::print("{}: OK\n  {}\n", file, Summary(*config));
    for (const std::string& warning : RuleWarnings(*config)) {
      fmt::print("  warning: {}\n", warning);
    }
  }
  return 0;
}

}  // namespace tidemark::cmd
