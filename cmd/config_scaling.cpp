#include "cmd/config_scaling.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/config_fields.h"
#include "cmd/config_given.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxRules = 1000;
constexpr int64_t kMinuteMs = 60'000;
// As CheckSettings has them, which comes after: here an error gets its line.
constexpr NumberRange kTargetRange = {.low = 0, .low_included = false, .high = 100};
constexpr NumberRange kUtilizationRange = {.low = 0, .low_included = false, .high = 1};
constexpr NumberRange kToleranceRange = {
    .low = 0, .low_included = true, .high = 1, .high_included = false};
constexpr NumberRange kRiskRange = {
    .low = 0, .low_included = false, .high = 0.5, .high_included = false};
/// Of whatever unit.
constexpr NumberRange kBaseRange = {.low = 0, .low_included = false, .high = 1e15};
constexpr std::array<std::string_view, 4> kSelectorLabels = {"cluster", "namespace",
                                                             "workload_type", "workload"};
constexpr std::array<ScalingPolicy, kScalingPolicyCount> kAllPolicies = {
    ScalingPolicy::kTidemark, ScalingPolicy::kHpa,       ScalingPolicy::kArimaHpa,
    ScalingPolicy::kLstmHpa,  ScalingPolicy::kBiLstmHpa, ScalingPolicy::kEvtBiLstmHpa,
    ScalingPolicy::kDebi,     ScalingPolicy::kDebiPaper};
// Written where nothing is given, so that a dump says where the value comes from.
constexpr std::string_view kAutoscaler = "autoscaler";
constexpr std::array<UtilizationBase, 3> kBases = {
    UtilizationBase::kRequest, UtilizationBase::kLimit, UtilizationBase::kOriginal};
constexpr std::string_view kMeasured = "measured";

/// `otherwise` for nothing, else what `read` makes of it.
template <class T>
FieldReader Optional(std::optional<T>& out, std::string_view otherwise,
                     std::function<FieldReader(T&)> read) {
  return [&out, otherwise, read = std::move(read)](const YamlValue& value) -> Result<void> {
    if (const auto text = value.ReadText(); text && *text == otherwise) {
      out.reset();
      return {};
    }
    T given{};
    if (auto done = read(given)(value); !done) {
      done.error().message.append(fmt::format(", or {}", otherwise));
      return done;
    }
    out = given;
    return {};
  };
}

FieldReader Replicas(std::optional<int32_t>& out) {
  return [&out](const YamlValue& value) {
    std::optional<int64_t> replicas;
    auto done = Optional<int64_t>(replicas, kAutoscaler, [](int64_t& given) {
      return WholeNumber(given, 1, kMaxReplicas);
    })(value);
    if (done) out = replicas ? std::optional(static_cast<int32_t>(*replicas)) : std::nullopt;
    return done;
  };
}

/// An amount, or what it is to be taken from.
FieldReader Base(ScalingRule& rule) {
  return [&rule](const YamlValue& value) -> Result<void> {
    rule.base.reset();
    rule.base_kind = UtilizationBase::kRequest;
    if (const auto text = value.ReadText(); text) {
      for (const UtilizationBase kind : kBases) {
        if (*text != ToString(kind)) continue;
        rule.base_kind = kind;
        return {};
      }
    }
    double amount = 0;
    if (auto done = Quantity(amount, kBaseRange, QuantityStyle::kDecimal)(value); !done) {
      done.error().message.append(", or request, limit or original");
      return done;
    }
    rule.base = amount;
    return {};
  };
}

std::string BaseText(const ScalingRule& rule) {
  return rule.base ? FormatQuantity(*rule.base, QuantityStyle::kDecimal)
                   : std::string(ToString(rule.base_kind));
}

FieldReader Startup(std::optional<int64_t>& out_ms) {
  return Optional<int64_t>(out_ms, kMeasured, [](int64_t& given) {
    return Duration(given, 0ms, std::chrono::milliseconds(kMaxStartupMs));
  });
}

FieldReader Window(int32_t& out_minutes) {
  return [&out_minutes](const YamlValue& value) -> Result<void> {
    int64_t ms = 0;
    const auto most = std::chrono::minutes(PolicySettings::kMaxWindowMinutes);
    if (auto done = Duration(ms, 1min, most)(value); !done) return done;
    if (ms % kMinuteMs != 0) {
      return value.Wrong(fmt::format("{} are no whole minutes, allowed: whole minutes, 1m to {}",
                                     FormatDuration(std::chrono::milliseconds(ms)),
                                     FormatDuration(most)));
    }
    out_minutes = static_cast<int32_t>(ms / kMinuteMs);
    return {};
  };
}

Result<void> ReadUtilization(const YamlValue& value, PolicySettings& out) {
  auto done = value.ReadMap({{"low", Number(out.utilization_low_ratio, kUtilizationRange)},
                             {"high", Number(out.utilization_high_ratio, kUtilizationRange)}});
  if (done && out.utilization_low_ratio > out.utilization_high_ratio) {
    return value.Wrong(fmt::format("low ({}) is more than high ({}), allowed: at most as much",
                                   out.utilization_low_ratio, out.utilization_high_ratio));
  }
  return done;
}

Result<void> ReadObjective(const YamlValue& value, PolicySettings& out) {
  return value.ReadMap({{"utilization", Number(out.slo_utilization_ratio, kUtilizationRange)},
                        {"time", Number(out.slo_time_ratio, kRiskRange)}});
}

Result<void> CheckRule(const YamlValue& item, const ScalingRule& rule, const GivenKeys& given) {
  if (!given.Has("selector")) {
    return item.WrongKey("selector",
                         "the key is missing, allowed: whom the rule is for, as in "
                         "{namespace=\"shop\"}; {} is everybody");
  }
  if (rule.min_replicas && rule.max_replicas && *rule.min_replicas > *rule.max_replicas) {
    return given.Last({"min_replicas", "max_replicas"}, item)
        .Wrong(fmt::format("min_replicas ({}) is more than max_replicas ({}), allowed: at most as "
                           "many",
                           *rule.min_replicas, *rule.max_replicas));
  }
  if (const auto good = CheckSettings(rule.policy); !good) return item.Wrong(good.error().message);
  return {};
}

Result<ScalingRule> ReadRule(const YamlValue& item) {
  ScalingRule rule;
  const auto policy = [&rule] { return Choice(rule.policy.policy, "policy", kAllPolicies); };
  // What is usual depends on the policy, wherever it stands.
  if (const auto name = item.Find("policy"); name) {
    if (auto done = policy()(*name); !done) return tl::unexpected(done.error());
  }
  rule.policy = UsualSettings(rule.policy.policy);
  GivenKeys given;
  const auto select = [&rule](const YamlValue& value) -> Result<void> {
    auto selector = ReadSelectorOver(value, "scaling", kSelectorLabels);
    if (!selector) return tl::unexpected(selector.error());
    rule.selector = *std::move(selector);
    return {};
  };
  auto done = item.ReadMap(
      {{"selector", given.Noting("selector", select)},
       {"enabled", Boolean(rule.enabled)},
       {"policy", policy()},
       {"min_replicas", given.Noting("min_replicas", Replicas(rule.min_replicas))},
       {"max_replicas", given.Noting("max_replicas", Replicas(rule.max_replicas))},
       {"base", Base(rule)},
       {"escape_dead_band", Boolean(rule.escape_dead_band)},
       {"startup", Startup(rule.startup_ms)},
       {"window", Window(rule.policy.window_minutes)},
       {"tolerance", Number(rule.policy.tolerance_ratio, kToleranceRange)},
       {"target_utilization", Number(rule.policy.target_utilization_ratio, kTargetRange)},
       {"utilization",
        [&rule](const YamlValue& value) { return ReadUtilization(value, rule.policy); }},
       {"high_water_risk", Number(rule.policy.high_water_risk, kRiskRange)},
       {"slo", [&rule](const YamlValue& value) { return ReadObjective(value, rule.policy); }}});
  if (done) done = CheckRule(item, rule, given);
  if (!done) return tl::unexpected(done.error());
  return rule;
}

Result<void> ReadRules(const YamlValue& value, std::vector<ScalingRule>& out) {
  const auto items = value.ReadList(kMaxRules);
  if (!items) return tl::unexpected(items.error());
  std::vector<ScalingRule> rules;
  rules.reserve(items->size());
  for (const YamlValue& item : *items) {
    auto rule = ReadRule(item);
    if (!rule) return tl::unexpected(rule.error());
    rules.push_back(*std::move(rule));
  }
  out = std::move(rules);
  return {};
}

std::string ReplicasText(const std::optional<int32_t>& replicas) {
  return replicas ? fmt::format("{}", *replicas) : std::string(kAutoscaler);
}

std::string DumpRule(const ScalingRule& rule) {
  const PolicySettings& policy = rule.policy;
  return fmt::format(
      "    - selector: {}\n      enabled: {}\n      policy: {}\n      min_replicas: {}\n"
      "      max_replicas: {}\n      base: {}\n      escape_dead_band: {}\n      startup: {}\n"
      "      window: {}\n"
      "      tolerance: {}\n      target_utilization: {}\n      utilization:\n        low: {}\n"
      "        high: {}\n      high_water_risk: {}\n      slo:\n        utilization: {}\n"
      "        time: {}\n",
      YamlQuoted(rule.selector.text()), rule.enabled, ToString(policy.policy),
      ReplicasText(rule.min_replicas), ReplicasText(rule.max_replicas), BaseText(rule),
      rule.escape_dead_band,
      rule.startup_ms ? FormatDuration(std::chrono::milliseconds(*rule.startup_ms))
                      : std::string(kMeasured),
      FormatDuration(std::chrono::minutes(policy.window_minutes)), policy.tolerance_ratio,
      policy.target_utilization_ratio, policy.utilization_low_ratio, policy.utilization_high_ratio,
      policy.high_water_risk, policy.slo_utilization_ratio, policy.slo_time_ratio);
}

}  // namespace

Result<void> ReadScaling(const YamlValue& value, ScalingSettings& out) {
  return value.ReadMap(
      {{"workloads", [&out](const YamlValue& list) { return ReadRules(list, out.rules); }}});
}

std::string DumpScaling(const ScalingSettings& settings) {
  if (settings.rules.empty()) return "scaling:\n  workloads: []\n";
  std::string out = "scaling:\n  workloads:\n";
  for (const ScalingRule& rule : settings.rules) out.append(DumpRule(rule));
  return out;
}

}  // namespace tidemark::cmd
