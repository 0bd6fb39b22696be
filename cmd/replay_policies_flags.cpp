#include "cmd/replay_policies_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "cmd/prometheus_access.h"
#include "cmd/text.h"
#include "cmd/time_flags.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;
using replay_policies::CommonSettings;
using replay_policies::NamedPolicy;
using replay_policies::ReplayPlan;

namespace fs = std::filesystem;

constexpr std::string_view kDefaultPolicies = "hpa@50,debi,tidemark";
constexpr auto kDefaultRange = 8 * 24h;
constexpr auto kShortest = 2h;
constexpr auto kLongest = 90 * 24h;
constexpr double kMostRequest = 1e15;
constexpr std::array<std::string_view, 3> kPrometheusFlags = {"query", "start", "end"};

std::optional<double> NumberIn(std::string_view text) {
  double value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Limits {
  double least;
  bool is_least_allowed;
  double most;
  bool is_most_allowed;
  std::string_view example;
};

/// `2%` or `0.02`.
Result<std::optional<double>> ReadShare(const GivenFlags& flags, std::string_view name,
                                        const Limits& limits) {
  if (!flags.contains(name)) return std::optional<double>();
  const std::string text = FlagValue(flags, name);
  std::string_view digits = text;
  const bool in_percent = digits.ends_with('%');
  if (in_percent) digits.remove_suffix(1);
  auto value = NumberIn(digits);
  if (value && in_percent) *value /= 100;
  const bool is_good =
      value && (*value > limits.least || (limits.is_least_allowed && *value == limits.least)) &&
      (*value < limits.most || (limits.is_most_allowed && *value == limits.most));
  if (is_good) return value;
  return WrongFlag(
      name, fmt::format("{} is no such share, allowed: {} {:g} {} {:g}, such as {}",
                        Shown(text, text.empty()), limits.is_least_allowed ? "from" : "above",
                        limits.least, limits.is_most_allowed ? "to" : "and below", limits.most,
                        limits.example));
}

Result<int32_t> ReadCount(const GivenFlags& flags, std::string_view name, int32_t otherwise) {
  if (!flags.contains(name)) return otherwise;
  const std::string text = FlagValue(flags, name);
  int32_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong == std::errc() && end == text.data() + text.size() && value >= 1 &&
      value <= kMaxReplicas) {
    return value;
  }
  return WrongFlag(name, fmt::format("{} is no number of replicas, allowed: 1 to {}",
                                     Shown(text, text.empty()), kMaxReplicas));
}

/// Whole minutes.
Result<int64_t> ReadMinutes(const GivenFlags& flags, std::string_view name, int64_t otherwise,
                            std::chrono::minutes least, std::chrono::minutes most) {
  const auto duration = ReadDuration(flags, name, otherwise * 60'000, least, most);
  if (!duration) return tl::unexpected(duration.error());
  if (*duration % 60'000 != 0) {
    return WrongFlag(name, fmt::format("{} is no whole number of minutes, allowed: {} to {}",
                                       Shown(FlagValue(flags, name)), FormatDuration(least),
                                       FormatDuration(most)));
  }
  return *duration / 60'000;
}

Result<backtest::DemandQuery> ReadPrometheus(const GivenFlags& flags, int64_t now_ms) {
  backtest::DemandQuery source;
  if (auto good = ReadPrometheusServer(flags, source.http); !good) {
    return tl::unexpected(good.error());
  }
  source.query = FlagValue(flags, "query");
  if (source.query.empty()) {
    return WrongFlag("query",
                     "it is missing, allowed: PromQL that gives the demand of all pods of a "
                     "workload together, such as sum(rate(container_cpu_usage_seconds_total"
                     "{namespace=\"shop\",pod=~\"web-.*\"}[2m]))");
  }
  const auto end = ReadTime(flags, "end", now_ms, now_ms);
  if (!end) return tl::unexpected(end.error());
  const auto start =
      ReadTime(flags, "start", *end - std::chrono::milliseconds(kDefaultRange).count(), now_ms);
  if (!start) return tl::unexpected(start.error());
  source.start_ms = *start;
  source.end_ms = *end;
  const std::chrono::milliseconds range(*end - *start);
  if (*start < 0 || range < kShortest || range > kLongest) {
    return WrongFlag("start", fmt::format("the time from --start to --end is not in range, "
                                          "allowed: {} to {}",
                                          FormatDuration(kShortest), FormatDuration(kLongest)));
  }
  if (FlagValue(flags, "request").empty()) {
    return WrongFlag("request",
                     "it is missing, allowed: with --prometheus what one pod requests, in the unit "
                     "of the query, such as 500m");
  }
  return source;
}

Result<void> ReadSource(const CommandLine& line, int64_t now_ms, ReplayPoliciesOrder& order) {
  if (!line.arguments.empty()) {
    const std::string& what = line.arguments.front();
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} cannot be replayed, allowed: requests (for requests of pods), or "
                            "flags alone (for replicas)",
                            Shown(what, what.empty())));
  }
  const GivenFlags& flags = line.flags;
  order.traces = FlagValue(flags, "traces");
  const bool asks = !FlagValue(flags, "prometheus").empty();
  if (asks == !order.traces.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                asks ? "--prometheus: it does not go with --traces, allowed: one of them"
                     : "nothing to replay, allowed: --traces=PATH or --prometheus=URL with "
                       "--query=PROMQL");
  }
  if (asks) {
    auto source = ReadPrometheus(flags, now_ms);
    if (!source) return tl::unexpected(source.error());
    order.prometheus = *std::move(source);
    return {};
  }
  const auto alone = [](std::string_view name) {
    return WrongFlag(name, "it does not go with --traces, allowed: with --prometheus");
  };
  for (const std::string_view name : kPrometheusFlags) {
    if (flags.contains(name)) return alone(name);
  }
  for (const FlagSpec& flag : PrometheusAccessFlags()) {
    if (flags.contains(flag.name)) return alone(flag.name);
  }
  return {};
}

Result<CommonSettings> ReadCommon(const GivenFlags& flags) {
  CommonSettings common;
  const std::array<std::tuple<std::string_view, std::optional<double>*, Limits>, 6> shares = {{
      {"tolerance", &common.tolerance_ratio, {0, true, 1, false, "10% or 0.1"}},
      {"utilization-low", &common.utilization_low_ratio, {0, false, 1, true, "30% or 0.3"}},
      {"utilization-high", &common.utilization_high_ratio, {0, false, 1, true, "70% or 0.7"}},
      {"high-water-risk", &common.high_water_risk, {0, false, 0.5, false, "0.001"}},
      {"slo-utilization", &common.slo_utilization_ratio, {0, false, 1, true, "90% or 0.9"}},
      {"slo-time", &common.slo_time_ratio, {0, false, 0.5, false, "2% or 0.02"}},
  }};
  for (const auto& [name, out, limits] : shares) {
    const auto share = ReadShare(flags, name, limits);
    if (!share) return tl::unexpected(share.error());
    *out = *share;
  }
  const PolicySettings usual;
  const double low = common.utilization_low_ratio.value_or(usual.utilization_low_ratio);
  const double high = common.utilization_high_ratio.value_or(usual.utilization_high_ratio);
  if (low > high) {
    return WrongFlag(
        "utilization-low",
        fmt::format("{:g} is above --utilization-high, {:g}, allowed: up to that", low, high));
  }
  if (flags.contains("window")) {
    const auto window = ReadMinutes(flags, "window", 5, 1min,
                                    std::chrono::minutes(PolicySettings::kMaxWindowMinutes));
    if (!window) return tl::unexpected(window.error());
    common.window_minutes = static_cast<int32_t>(*window);
  }
  return common;
}

/// What only some policies read is refused where none of them is asked for: it would do nothing.
Result<void> CheckRead(const GivenFlags& flags, const std::vector<NamedPolicy>& policies) {
  const auto any = [&](const auto& reads) {
    return std::ranges::any_of(
        policies, [&](const NamedPolicy& policy) { return reads(policy.settings.policy); });
  };
  const auto check = [&](std::string_view name, const auto& reads,
                         std::string_view who) -> Result<void> {
    if (!flags.contains(name) || any(reads)) return {};
    return WrongFlag(name, fmt::format("no policy reads it, allowed: with {} among --policy", who));
  };
  const auto is_tidemark = [](ScalingPolicy policy) { return policy == ScalingPolicy::kTidemark; };
  for (const std::string_view name : {"slo-utilization", "slo-time"}) {
    if (auto good = check(name, is_tidemark, "tidemark"); !good) return good;
  }
  for (const std::string_view name : {"utilization-low", "utilization-high"}) {
    if (auto good = check(name, replay_policies::IsDebi, "debi or debi-paper"); !good) return good;
  }
  return check("high-water-risk", replay_policies::ReadsHighWater,
               "debi, debi-paper or evt-bilstm-hpa");
}

Result<void> ReadPolicies(const GivenFlags& flags, ReplayPlan& plan) {
  const auto common = ReadCommon(flags);
  if (!common) return tl::unexpected(common.error());
  const std::string given = FlagValue(flags, "policy");
  auto policies = replay_policies::ParsePolicies(
      flags.contains("policy") ? std::string_view(given) : kDefaultPolicies, *common);
  if (!policies) return WrongFlag("policy", policies.error().message);
  if (auto good = CheckRead(flags, *policies); !good) return good;
  plan.trains_networks = flags.contains("networks");
  const bool has_debi = std::ranges::any_of(*policies, [](const NamedPolicy& policy) {
    return replay_policies::IsDebi(policy.settings.policy);
  });
  bool needs = false;
  for (const NamedPolicy& policy : *policies) {
    if (!replay_policies::NeedsNetwork(policy.settings.policy)) continue;
    needs = true;
    if (plan.trains_networks) continue;
    return WrongFlag("policy",
                     fmt::format("{} goes by a network, which is trained for minutes a trace, "
                                 "allowed: with --networks, or without {}",
                                 policy.name, policy.name));
  }
  if (plan.trains_networks && !needs && !has_debi) {
    return WrongFlag("networks",
                     "no policy reads it, allowed: with lstm-hpa, bilstm-hpa, evt-bilstm-hpa, debi "
                     "or debi-paper among --policy");
  }
  plan.policies = *std::move(policies);
  plan.perfect_window_minutes = common->window_minutes.value_or(plan.perfect_window_minutes);
  return {};
}

Result<void> ReadPods(const GivenFlags& flags, ReplayPlan& plan) {
  const auto startup = ReadDuration(flags, "startup", plan.startup_ms, 0ms,
                                    std::chrono::milliseconds(kMaxStartupMs));
  if (!startup) return tl::unexpected(startup.error());
  plan.startup_ms = *startup;
  const auto period = ReadMinutes(flags, "period", plan.period_minutes, 1min, 60min);
  if (!period) return tl::unexpected(period.error());
  plan.period_minutes = static_cast<int32_t>(*period);
  const auto least = ReadCount(flags, "min-replicas", plan.bounds.min);
  if (!least) return tl::unexpected(least.error());
  const auto most = ReadCount(flags, "max-replicas", plan.bounds.max);
  if (!most) return tl::unexpected(most.error());
  if (*least > *most) {
    return WrongFlag(
        "min-replicas",
        fmt::format("{} is above --max-replicas, {}, allowed: up to that", *least, *most));
  }
  plan.bounds = {.min = *least, .max = *most};
  if (flags.contains("request")) {
    const std::string text = FlagValue(flags, "request");
    const auto request = ParseQuantity(text);
    if (!request || !(*request > 0) || *request > kMostRequest) {
      return WrongFlag("request",
                       fmt::format("{} is no request, allowed: above 0 to {:g}, such as 500m or 2",
                                   Shown(text, text.empty()), kMostRequest));
    }
    plan.request = *request;
  }
  return {};
}

Result<void> ReadSeed(const GivenFlags& flags, uint64_t& seed) {
  if (!flags.contains("seed")) return {};
  const std::string text = FlagValue(flags, "seed");
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (wrong == std::errc() && end == text.data() + text.size()) return {};
  return WrongFlag("seed", fmt::format("{} is no seed, allowed: 0 to {}", Shown(text, text.empty()),
                                       std::numeric_limits<uint64_t>::max()));
}

/// Also of what is not there yet.
fs::path WholePath(const std::string& file, std::error_code& wrong) {
  return fs::weakly_canonical(fs::absolute(file, wrong), wrong);
}

/// Whether `file` lies within `folder`, or is it.
bool IsWithin(const std::string& file, const std::string& folder) {
  std::error_code wrong;
  const fs::path inner = WholePath(file, wrong);
  if (wrong) return false;
  const fs::path outer = fs::canonical(folder, wrong);
  if (wrong) return false;
  const auto [ended, rest] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  static_cast<void>(rest);
  return ended == outer.end();
}

Result<void> ReadOutput(const GivenFlags& flags, ReplayPoliciesOrder& order) {
  constexpr std::array<std::pair<std::string_view, PoliciesOutput>, 4> kForms = {
      {{"table", PoliciesOutput::kTable},
       {"json", PoliciesOutput::kJson},
       {"csv", PoliciesOutput::kCsv},
       {"html", PoliciesOutput::kHtml}}};
  const std::string text = flags.contains("output") ? FlagValue(flags, "output") : "table";
  const auto* const form =
      std::ranges::find(kForms, text, &std::pair<std::string_view, PoliciesOutput>::first);
  if (form == kForms.end()) {
    return WrongFlag("output", fmt::format("{} is no form of output, allowed: table, json, csv, "
                                           "html",
                                           Shown(text, text.empty())));
  }
  order.output = form->second;
  order.plan.draws = order.output == PoliciesOutput::kHtml;
  order.output_file = FlagValue(flags, "output.file");
  order.minutes_file = FlagValue(flags, "minutes");
  if (flags.contains("minutes") && order.minutes_file.empty()) {
    return WrongFlag("minutes", "it is empty, allowed: a file");
  }
  for (const std::string_view name : {"output.file", "minutes"}) {
    const std::string file = FlagValue(flags, name);
    if (file.empty() || order.traces.empty() || !IsWithin(file, order.traces)) continue;
    return WrongFlag(name, fmt::format("{} is, or lies within, what is replayed, allowed: a file "
                                       "elsewhere",
                                       Shown(file)));
  }
  std::error_code wrong;
  if (!order.minutes_file.empty() && !order.output_file.empty() &&
      WholePath(order.minutes_file, wrong) == WholePath(order.output_file, wrong)) {
    return WrongFlag("minutes", "it is the same file as --output.file, allowed: another");
  }
  return {};
}

}  // namespace

CommandSpec ReplayPoliciesSpec() {
  CommandSpec spec = {
      "tidetool replay",
      "Replay a recorded demand through scaling policies, with the loop closed: how many replicas "
      "each would have asked for, what that would have cost, and for how long it would have been "
      "short. docs/replay.md says what the figures mean. `tidetool replay requests` is about "
      "requests of pods; see its own --help.",
      {{"traces", "PATH",
        "A CSV file (unix_seconds,value), or a folder of them; its manifest.csv may say of each "
        "its "
        "class and pods_per_unit."},
       {"prometheus", "URL", "Instead: a Prometheus-compatible API."},
       {"query", "PROMQL",
        "Of --prometheus: the demand of all pods of a workload together; each series is replayed "
        "by itself."},
       {"start", "TIME",
        "Of --prometheus: RFC 3339, seconds since 1970, or a duration ago such as 14d. Default: 8d "
        "before the end."},
       {"end", "TIME", "The same. Default: now."},
       {"policy", std::string(kDefaultPolicies),
        "Comma-separated: hpa, arima-hpa, lstm-hpa, bilstm-hpa, evt-bilstm-hpa, debi, debi-paper, "
        "tidemark. Behind an @ in per cent: the target of hpa and its kin (hpa@70), U_hi of debi, "
        "the time of tidemark's objective (tidemark@1). HPA at 50, 60 and 70 % is always there."},
       {"startup", "2m", "From a pod's being asked for until it serves; counts in whole minutes."},
       {"period", "1m", "Between two decisions."},
       {"request", "1",
        "What one pod requests, in the demand's unit: 500m, 2. With pods_per_unit of a manifest it "
        "is what a pod costs and no more."},
       {"min-replicas", "1", "The least there may be."},
       {"max-replicas", "50", "The most."},
       {"tolerance", "10%", "No change while the load is within so much of the target."},
       {"window", "5m",
        "Stabilisation: the highest recommendation of so long counts. Default of tidemark: 3m."},
       {"utilization-low", "30%", "Of debi: U_lo."},
       {"utilization-high", "70%", "Of debi: U_hi."},
       {"slo-utilization", "90%", "Of tidemark: the utilisation that is too high."},
       {"slo-time", "2%", "Of tidemark: the share of time in which it may be."},
       {"high-water-risk", "0.001",
        "Of debi and evt-bilstm-hpa: how likely a minute is to pass the high-water load. Default "
        "of "
        "debi-paper: 0.1."},
       {"warm-up", "1d", "At the start of each trace: learnt from and scaled on, not measured."},
       {"networks", "",
        "Train LSTM and BiLSTM for the policies that go by them, and a BiLSTM for debi: minutes "
        "for "
        "each trace."},
       {"seed", "0", "Of what is trained."},
       {"output", "table", "table, json, csv or html."},
       {"output.file", "PATH", "Where to write it. Default: standard output."},
       {"minutes", "FILE", "Also write every minute of every policy, as CSV."}},
      {{"what", "requests; nothing for replicas.", true}}};
  for (FlagSpec& flag : PrometheusAccessFlags()) spec.flags.push_back(std::move(flag));
  return spec;
}

Result<ReplayPoliciesOrder> ReadReplayPoliciesFlags(const CommandLine& line, int64_t now_ms) {
  ReplayPoliciesOrder order;
  if (auto good = ReadSource(line, now_ms, order); !good) return tl::unexpected(good.error());
  if (auto good = ReadPolicies(line.flags, order.plan); !good) {
    return tl::unexpected(good.error());
  }
  if (auto good = ReadPods(line.flags, order.plan); !good) return tl::unexpected(good.error());
  const auto warm_up = ReadMinutes(line.flags, "warm-up", order.plan.warm_up_minutes, 0min,
                                   std::chrono::duration_cast<std::chrono::minutes>(kLongest));
  if (!warm_up) return tl::unexpected(warm_up.error());
  order.plan.warm_up_minutes = *warm_up;
  if (auto good = ReadSeed(line.flags, order.plan.seed); !good) return tl::unexpected(good.error());
  if (auto good = ReadOutput(line.flags, order); !good) return tl::unexpected(good.error());
  return order;
}

}  // namespace tidemark::cmd
