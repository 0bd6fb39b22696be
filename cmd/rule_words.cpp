#include "cmd/rule_words.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <string_view>

#include "cmd/config_profile_keys.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

std::string Time(int64_t ms) { return FormatDuration(std::chrono::milliseconds(ms)); }

std::string_view WhoseUsage(Level level) {
  switch (level) {
    case Level::kContainer: return "the container in all pods";
    case Level::kWorkload: return "all containers of the workload";
    case Level::kNamespace: return "all containers of the namespace with this profile";
    case Level::kPod: return "whole pods, shared out by their containers' present requests";
  }
  return "";
}

std::string_view InRightSizing(const Profile& profile, const ResourceRule& rule) {
  switch (rule.correction) {
    case Correction::kOff: return "right-sizing leaves it alone";
    case Correction::kKeepOriginal:
      return profile.effect == Effect::kApplied
                 ? "right-sizing takes it where it is less than the original request"
                 : "right-sizing shows it where it is less than the original request";
    case Correction::kReplace:
      return profile.effect == Effect::kApplied ? "right-sizing takes it" : "right-sizing shows it";
  }
  return "";
}

/// What the request is worked out from, where that is not the histogram.
std::string OtherBasis(const Profile& profile, const ResourceRule& rule) {
  const std::string_view whose = WhoseUsage(profile.level);
  if (rule.basis == Basis::kHighWater) {
    return fmt::format("the level that a minute of {} passes with a probability of {}", whose,
                       rule.high_water.risk);
  }
  if (rule.samples == SampleKind::kPeakPerWindow) {
    return fmt::format("{} times what the highest hours of the last week of {} needed{}",
                       rule.adaptive.safety_factor, whose,
                       rule.adaptive.keeps_week_maximum ? ", at least their maximum" : "");
  }
  return fmt::format("what the {} of the last week of {} ask for, with {:.4g} % of minutes above",
                     rule.adaptive.resize_in_place ? "hours" : "days", whose,
                     rule.adaptive.target_exceedance_ratio * 100);
}

std::string HistogramPercentile(const Profile& profile, const ResourceRule& rule) {
  const std::string samples = rule.samples == SampleKind::kEveryMinute
                                  ? std::string("every minute")
                                  : fmt::format("the peak of each {}", Time(rule.window_ms));
  const std::string weight = rule.weight == WeightRule::kConstant
                                 ? std::string("each with the same weight")
                                 : std::string("each with the request of its time as its weight");
  return fmt::format("percentile {} of {} of {}, {}, which halves in {}", rule.percentile, samples,
                     WhoseUsage(profile.level), weight, Time(rule.half_life_ms));
}

/// What makes of a minute something else, or takes it out.
std::string SampleRules(const ResourceRule& rule) {
  std::string out;
  const auto add = [&out](const std::string& text) { out.append("; ").append(text); };
  if (rule.startup_ms > 0) add(fmt::format("the first {} of a pod apart", Time(rule.startup_ms)));
  if (rule.throttled_from_ratio < 1) {
    add(fmt::format("minutes throttled in {:.4g} % of the periods or more count for more",
                    rule.throttled_from_ratio * 100));
  }
  if (rule.peak_per_run) add("of Jobs and CronJobs the peak of each run");
  if (rule.leave_out_page_cache) add("without page cache");
  return out;
}

std::string WorkedOut(const Profile& profile, Resource resource) {
  const ResourceRule& rule = profile.rule(resource);
  const auto amount = [resource](double value) { return FormatQuantity(value, StyleOf(resource)); };
  std::string out = rule.basis == Basis::kPercentile ? HistogramPercentile(profile, rule)
                                                     : OtherBasis(profile, rule);
  out += SampleRules(rule);
  const auto add = [&out](const std::string& text) { out.append("; ").append(text); };
  if (rule.margin_ratio > 0) add(fmt::format("{:.4g} % more", rule.margin_ratio * 100));
  if (rule.expansion_factor != 1) add(fmt::format("times {}", rule.expansion_factor));
  if (rule.pod_minimum > 0) add(fmt::format("at least {} a pod", amount(rule.pod_minimum)));
  if (rule.floor > 0) add(fmt::format("at least {}", amount(rule.floor)));
  if (rule.ceiling) add(fmt::format("at most {}", amount(*rule.ceiling)));
  if (rule.plateau_at_limit) add("not above a limit at which it lies without a kill");
  if (rule.node_cap) add("at most what the largest node can give");
  add(fmt::format("rounded up to a multiple of {}", amount(rule.rounding)));
  if (resource != Resource::kMemory) return out;
  add(fmt::format("a kill asks for {} times what was needed, at least {} more",
                  rule.kills.bump_ratio, amount(rule.kills.min_bump)));
  if (rule.kills.hold_ms > 0 && !profile.strict) {
    out.append(fmt::format(", for at least {}", Time(rule.kills.hold_ms)));
  }
  return out;
}

}  // namespace

std::string RuleInWords(const Profile& profile, Resource resource) {
  const ResourceRule& rule = profile.rule(resource);
  if (!rule.enabled || profile.mode == PoolMode::kOff) return "nothing is recommended";
  const std::string fixed = rule.static_ratio == 1
                                ? std::string("the original request")
                                : fmt::format("{} of the original request", rule.static_ratio);
  std::string out;
  switch (profile.mode) {
    case PoolMode::kOff: break;
    case PoolMode::kStatic: out = fixed; break;
    case PoolMode::kDynamic: out = WorkedOut(profile, resource); break;
    case PoolMode::kStaticAndDynamic:
      out = WorkedOut(profile, resource);
      out.append(fmt::format("; while the history knows too little, {}", fixed));
      break;
  }
  return out.append("; ").append(InRightSizing(profile, rule));
}

}  // namespace tidemark::cmd
