#include "cmd/replay_policies/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "cmd/text.h"

namespace tidemark::replay_policies {
namespace {

using cmd::Shown;

constexpr std::array<int, 3> kAlwaysTargets = {50, 60, 70};
/// Who writes hpa@0.6 means 60 %.
constexpr double kMeantAsRatio = 1.5;
constexpr double kLeastSloPercent = 0.05;
constexpr double kMostSloPercent = 50;  // not itself
constexpr double kMostTargetPercent = 1000;

std::string PolicyNames() {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kScalingPolicyCount; ++i) {
    names.push_back(ToString(static_cast<ScalingPolicy>(i)));
  }
  return cmd::Join(names);
}

tl::unexpected<Error> Wrong(std::string what) {
  return Fail(ErrorCode::kInvalidArgument, std::move(what));
}

/// In per cent, from 0.05 to 31.5: Renard's numbers, ten in each decade (ISO 3).
constexpr std::array kSloPercents = {0.05, 0.063, 0.08, 0.1, 0.125, 0.16, 0.2,  0.25, 0.315, 0.4,
                                     0.5,  0.63,  0.8,  1.0, 1.25,  1.6,  2.0,  2.5,  3.15,  4.0,
                                     5.0,  6.3,   8.0,  10., 12.5,  16.0, 20.0, 25.0, 31.5};

PolicySettings With(PolicySettings settings, const CommonSettings& common) {
  settings.tolerance_ratio = common.tolerance_ratio.value_or(settings.tolerance_ratio);
  settings.window_minutes = common.window_minutes.value_or(settings.window_minutes);
  settings.utilization_low_ratio =
      common.utilization_low_ratio.value_or(settings.utilization_low_ratio);
  settings.utilization_high_ratio =
      common.utilization_high_ratio.value_or(settings.utilization_high_ratio);
  settings.high_water_risk = common.high_water_risk.value_or(settings.high_water_risk);
  settings.slo_utilization_ratio =
      common.slo_utilization_ratio.value_or(settings.slo_utilization_ratio);
  settings.slo_time_ratio = common.slo_time_ratio.value_or(settings.slo_time_ratio);
  return settings;
}

Result<double> ReadKnob(std::string_view part, std::string_view name, std::string_view percent,
                        ScalingPolicy policy, const PolicySettings& settings) {
  double value = 0;
  const auto [end, wrong] = std::from_chars(percent.data(), percent.data() + percent.size(), value);
  const bool is_number = wrong == std::errc() && end == percent.data() + percent.size();
  if (policy == ScalingPolicy::kTidemark) {
    if (is_number && value >= kLeastSloPercent && value < kMostSloPercent) return value / 100;
    return Wrong(fmt::format(
        "{}: the time above the objective's utilisation is no such share, allowed: per cent of "
        "{:g} to below {:g}, such as tidemark@2",
        Shown(part), kLeastSloPercent, kMostSloPercent));
  }
  const double least = IsDebi(policy) ? 100 * settings.utilization_low_ratio : kMeantAsRatio;
  const double most = IsDebi(policy) ? 100 : kMostTargetPercent;
  if (is_number && value > kMeantAsRatio && value >= least && value <= most) return value / 100;
  std::string hint;
  if (is_number && value > 0 && value <= kMeantAsRatio) {
    hint = fmt::format(" (did you mean {}@{:g}?)", name, std::round(1e4 * value) / 100);
  }
  return Wrong(
      fmt::format("{}: the {} is no such utilisation{}, allowed: per cent {} {:g} to {:g}, "
                  "such as {}@{}",
                  Shown(part), IsDebi(policy) ? "U_hi" : "target", hint,
                  IsDebi(policy) ? "from" : "above", least, most, name, IsDebi(policy) ? 70 : 60));
}

Result<NamedPolicy> ReadPolicy(std::string_view part, const CommonSettings& common) {
  const size_t at = part.find('@');
  const std::string_view name = part.substr(0, at);
  const auto policy = ScalingPolicyNamed(name);
  if (!policy) {
    return Wrong(fmt::format("{} is no policy, allowed: {}, comma-separated, each also as hpa@70",
                             Shown(part, part.empty()), PolicyNames()));
  }
  NamedPolicy named{std::string(part), With(UsualSettings(*policy), common), true};
  if (at != std::string_view::npos) {
    const auto knob = ReadKnob(part, name, part.substr(at + 1), *policy, named.settings);
    if (!knob) return tl::unexpected(knob.error());
    named.settings = WithKnob(named.settings, *knob);
  }
  if (auto good = CheckSettings(named.settings); !good) {
    return Wrong(fmt::format("{}: {}", Shown(part), good.error().message));
  }
  return named;
}

}  // namespace

bool IsDebi(ScalingPolicy policy) {
  return policy == ScalingPolicy::kDebi || policy == ScalingPolicy::kDebiPaper;
}

bool IsHpa(ScalingPolicy policy) { return !IsDebi(policy) && policy != ScalingPolicy::kTidemark; }

bool NeedsNetwork(ScalingPolicy policy) {
  return policy == ScalingPolicy::kLstmHpa || policy == ScalingPolicy::kBiLstmHpa ||
         policy == ScalingPolicy::kEvtBiLstmHpa;
}

bool ReadsHighWater(ScalingPolicy policy) {
  return IsDebi(policy) || policy == ScalingPolicy::kEvtBiLstmHpa;
}

Result<std::vector<NamedPolicy>> ParsePolicies(std::string_view list,
                                               const CommonSettings& common) {
  std::vector<NamedPolicy> policies;
  const auto is_named = [&](std::string_view name) {
    return std::ranges::find(policies, name, &NamedPolicy::name) != policies.end();
  };
  for (bool more = true; more;) {
    const size_t comma = list.find(',');
    auto policy = ReadPolicy(list.substr(0, comma), common);
    if (!policy) return tl::unexpected(policy.error());
    if (is_named(policy->name)) {
      return Wrong(fmt::format("{} stands there twice, allowed: once", Shown(policy->name)));
    }
    if (policies.size() == kMaxPolicies) {
      return Wrong(fmt::format("too many policies, allowed: {}", kMaxPolicies));
    }
    policies.push_back(*std::move(policy));
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
  }
  for (const int target : kAlwaysTargets) {
    const std::string name = fmt::format("hpa@{}", target);
    if (is_named(name)) continue;
    auto policy = ReadPolicy(name, common);
    if (!policy) return tl::unexpected(policy.error());
    policy->is_asked = false;
    policies.push_back(*std::move(policy));
  }
  return policies;
}

double KnobOf(const PolicySettings& settings) {
  if (IsDebi(settings.policy)) return settings.utilization_high_ratio;
  return IsHpa(settings.policy) ? settings.target_utilization_ratio : settings.slo_time_ratio;
}

PolicySettings WithKnob(PolicySettings settings, double knob) {
  if (IsDebi(settings.policy)) {
    settings.utilization_high_ratio = knob;
  } else if (IsHpa(settings.policy)) {
    settings.target_utilization_ratio = knob;
  } else {
    settings.slo_time_ratio = knob;
  }
  return settings;
}

std::vector<double> KnobRange(const PolicySettings& settings) {
  std::vector<double> range{KnobOf(settings)};
  if (settings.policy == ScalingPolicy::kTidemark) {
    for (const double percent : kSloPercents) range.push_back(percent / 100);
  } else {
    for (int percent = 10; percent <= 100; ++percent) {
      const double ratio = percent / 100.0;
      if (IsDebi(settings.policy) && ratio < settings.utilization_low_ratio) continue;
      range.push_back(ratio);
    }
  }
  std::ranges::sort(range);
  range.erase(std::unique(range.begin(), range.end()), range.end());
  return range;
}

std::string KnobText(ScalingPolicy policy, double knob) {
  const std::string_view name = IsDebi(policy) ? "U_hi" : IsHpa(policy) ? "target" : "slo time";
  return fmt::format("{} {:.4g} %", name, 100 * knob);
}

std::string_view KnobName(ScalingPolicy policy) {
  if (IsDebi(policy)) return "utilization.high";
  return IsHpa(policy) ? "target_utilization" : "slo.time";
}

}  // namespace tidemark::replay_policies
