#include "cmd/config_profile_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr NumberRange kPercentileRange{.low = 0, .low_included = false, .high = 1};
constexpr NumberRange kMarginRange{.low = 0, .low_included = true, .high = 10};
constexpr NumberRange kExpansionRange{.low = 0.1, .low_included = true, .high = 10};
constexpr NumberRange kSampleWeightRange{.low = 0, .low_included = false, .high = 1000};
constexpr NumberRange kBucketRatioRange{.low = 1.001, .low_included = true, .high = 2};
constexpr NumberRange kStaticRatioRange{.low = 0, .low_included = false, .high = 1};
constexpr NumberRange kRiskRange{
    .low = 0, .low_included = false, .high = 0.5, .high_included = false};
/// Below it nobody would notice in a day of minutes; from a tenth up it is no request any more.
constexpr NumberRange kExceedanceRange{.low = 0.0001, .low_included = true, .high = 0.25};
constexpr NumberRange kSafetyRange{.low = 1, .low_included = true, .high = 10};
constexpr NumberRange kThrottledRange{.low = 0, .low_included = false, .high = 1};
/// A Java service may take some minutes; a pod of an hour is no young one.
constexpr auto kMaxStartUp = 1h;
/// As VPA checks its own oomBumpUpRatio.
constexpr NumberRange kBumpRatioRange{.low = 1, .low_included = true, .high = 10};
/// Samples are minutes of usage: with a shorter half-life the newest of them would be all there is.
constexpr auto kMinHalfLife = 1min;
constexpr auto kMinWindow = 1min;
/// As long as a workload that has fallen silent is kept.
constexpr auto kMaxWindow = 8 * 24h;
constexpr auto kYear = 365 * 24h;

constexpr std::array kPresets = {Preset::kTidemark, Preset::kVpa, Preset::kOversell};
constexpr std::array kLevels = {Level::kContainer, Level::kWorkload, Level::kNamespace,
                                Level::kPod};
constexpr std::array kModes = {PoolMode::kOff, PoolMode::kStatic, PoolMode::kDynamic,
                               PoolMode::kStaticAndDynamic};
constexpr std::array kEffects = {Effect::kApplied, Effect::kShown};
constexpr std::array kSampleKinds = {SampleKind::kEveryMinute, SampleKind::kPeakPerWindow};
constexpr std::array kWeightRules = {WeightRule::kConstant, WeightRule::kByRequest};
constexpr std::array kBases = {Basis::kPercentile, Basis::kHighWater, Basis::kAdaptive};
constexpr std::array kTailMethods = {TailMethod::kAuto, TailMethod::kMoments, TailMethod::kPwm,
                                     TailMethod::kMle};
constexpr std::array kCorrections = {Correction::kOff, Correction::kKeepOriginal,
                                     Correction::kReplace};
constexpr std::string_view kNoCeiling = "none";

bool IsBytes(Resource resource) { return UnitName(resource) == "byte"; }

/// The greatest amount that can be asked for.
double MaxAmount(Resource resource) {
  if (IsCustom(resource)) return 1e15;
  if (resource == Resource::kEphemeralStorage) return 0x1p50;  // 1 PiB
  return IsBytes(resource) ? 0x1p40 : 1000;                    // 1 TiB; cores, whole GPUs
}
/// What Kubernetes counts in: bytes, thousandths of a core and of what it does not know.
double FinestAmount(Resource resource) { return IsBytes(resource) ? 1 : 0.001; }

NumberRange From0(Resource resource) {
  return {.low = 0, .low_included = true, .high = MaxAmount(resource)};
}
NumberRange FromFinest(Resource resource) {
  return {.low = FinestAmount(resource), .low_included = true, .high = MaxAmount(resource)};
}
NumberRange Above0(double high) { return {.low = 0, .low_included = false, .high = high}; }
double MaxBucket(Resource resource) {
  if (IsCustom(resource)) return 1e18;
  return IsBytes(resource) ? 0x1p50 : 1e6;
}

FieldReader Ceiling(std::optional<double>& out, Resource resource) {
  return [&out, resource](const YamlValue& value) -> Result<void> {
    const auto text = value.ReadText();
    if (text && *text == kNoCeiling) {
      out.reset();
      return {};
    }
    double amount = 0;
    auto done = Quantity(amount, FromFinest(resource), StyleOf(resource))(value);
    if (done) out = amount;
    return done;
  };
}

/// Falling, whatever their order in the file.
FieldReader Risks(std::vector<double>& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    const auto items = value.ReadList(kMaxHighWaterRisks);
    if (!items) return tl::unexpected(items.error());
    std::vector<double> risks;
    for (const YamlValue& item : *items) {
      const auto risk = item.ReadNumber(kRiskRange);
      if (!risk) return tl::unexpected(risk.error());
      if (std::ranges::find(risks, *risk) != risks.end()) {
        return item.Wrong(fmt::format("{} stands there already, allowed: each risk once", *risk));
      }
      risks.push_back(*risk);
    }
    std::ranges::sort(risks, std::greater<>{});
    out = std::move(risks);
    return {};
  };
}

std::string Text(const std::vector<double>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}
std::string Text(double number) { return fmt::format("{}", number); }
std::string Text(bool flag) { return flag ? "true" : "false"; }
std::string Time(int64_t ms) { return FormatDuration(std::chrono::milliseconds(ms)); }
std::string Amount(double amount, Resource resource) {
  return FormatQuantity(amount, StyleOf(resource));
}

using Rule = ResourceRule;

constexpr std::array kProfileKeys = {
    ProfileKey{"preset", [](Profile& p) { return Choice(p.preset, "preset", kPresets); },
               [](const Profile& p) { return std::string(ToString(p.preset)); }},
    ProfileKey{"level", [](Profile& p) { return Choice(p.level, "level", kLevels); },
               [](const Profile& p) { return std::string(ToString(p.level)); }},
    ProfileKey{"strict", [](Profile& p) { return Boolean(p.strict); },
               [](const Profile& p) { return Text(p.strict); }},
    ProfileKey{"mode", [](Profile& p) { return Choice(p.mode, "mode", kModes); },
               [](const Profile& p) { return std::string(ToString(p.mode)); }},
    ProfileKey{"effect", [](Profile& p) { return Choice(p.effect, "effect", kEffects); },
               [](const Profile& p) { return std::string(ToString(p.effect)); }},
    ProfileKey{"may_change_qos", [](Profile& p) { return Boolean(p.may_change_qos); },
               [](const Profile& p) { return Text(p.may_change_qos); }},
    ProfileKey{"high_water_risks", [](Profile& p) { return Risks(p.high_water_risks); },
               [](const Profile& p) { return Text(p.high_water_risks); }},
};

constexpr std::array kRuleKeys = {
    RuleKey{"", "enabled", true, [](Rule& r, Resource) { return Boolean(r.enabled); },
            [](const Rule& r, Resource) { return Text(r.enabled); }},
    RuleKey{"", "basis", false, [](Rule& r, Resource) { return Choice(r.basis, "basis", kBases); },
            [](const Rule& r, Resource) { return std::string(ToString(r.basis)); }},
    RuleKey{"high_water", "risk", false,
            [](Rule& r, Resource) { return Number(r.high_water.risk, kRiskRange); },
            [](const Rule& r, Resource) { return Text(r.high_water.risk); }},
    RuleKey{"high_water", "method", true,
            [](Rule& r, Resource) { return Choice(r.high_water.method, "method", kTailMethods); },
            [](const Rule& r, Resource) { return std::string(ToString(r.high_water.method)); }},
    RuleKey{"adaptive", "target_exceedance", false,
            [](Rule& r, Resource) {
              return Number(r.adaptive.target_exceedance_ratio, kExceedanceRange);
            },
            [](const Rule& r, Resource) { return Text(r.adaptive.target_exceedance_ratio); }},
    RuleKey{"adaptive", "safety_factor", false,
            [](Rule& r, Resource) { return Number(r.adaptive.safety_factor, kSafetyRange); },
            [](const Rule& r, Resource) { return Text(r.adaptive.safety_factor); }},
    RuleKey{"adaptive", "keep_week_maximum", false,
            [](Rule& r, Resource) { return Boolean(r.adaptive.keeps_week_maximum); },
            [](const Rule& r, Resource) { return Text(r.adaptive.keeps_week_maximum); }},
    RuleKey{"adaptive", "resize_in_place", false,
            [](Rule& r, Resource) { return Boolean(r.adaptive.resize_in_place); },
            [](const Rule& r, Resource) { return Text(r.adaptive.resize_in_place); }},
    RuleKey{"", "percentile", true,
            [](Rule& r, Resource) { return Number(r.percentile, kPercentileRange); },
            [](const Rule& r, Resource) { return Text(r.percentile); }},
    RuleKey{"", "lower_percentile", true,
            [](Rule& r, Resource) { return Number(r.lower_percentile, kPercentileRange); },
            [](const Rule& r, Resource) { return Text(r.lower_percentile); }},
    RuleKey{"", "upper_percentile", true,
            [](Rule& r, Resource) { return Number(r.upper_percentile, kPercentileRange); },
            [](const Rule& r, Resource) { return Text(r.upper_percentile); }},
    RuleKey{"", "half_life", true,
            [](Rule& r, Resource) { return Duration(r.half_life_ms, kMinHalfLife, kYear); },
            [](const Rule& r, Resource) { return Time(r.half_life_ms); }},
    RuleKey{"", "samples", false,
            [](Rule& r, Resource) { return Choice(r.samples, "kind of samples", kSampleKinds); },
            [](const Rule& r, Resource) { return std::string(ToString(r.samples)); }},
    RuleKey{"", "window", true,
            [](Rule& r, Resource) { return Duration(r.window_ms, kMinWindow, kMaxWindow); },
            [](const Rule& r, Resource) { return Time(r.window_ms); }},
    RuleKey{"", "weight", true,
            [](Rule& r, Resource) { return Choice(r.weight, "rule of weight", kWeightRules); },
            [](const Rule& r, Resource) { return std::string(ToString(r.weight)); }},
    RuleKey{"", "sample_weight", false,
            [](Rule& r, Resource) { return Number(r.sample_weight, kSampleWeightRange); },
            [](const Rule& r, Resource) { return Text(r.sample_weight); }},
    RuleKey{"buckets", "first", false,
            [](Rule& r, Resource of) {
              return Quantity(r.buckets.first, Above0(MaxAmount(of)), StyleOf(of));
            },
            [](const Rule& r, Resource of) { return Amount(r.buckets.first, of); }},
    RuleKey{"buckets", "ratio", false,
            [](Rule& r, Resource) { return Number(r.buckets.ratio, kBucketRatioRange); },
            [](const Rule& r, Resource) { return Text(r.buckets.ratio); }},
    RuleKey{"buckets", "max", false,
            [](Rule& r, Resource of) {
              return Quantity(r.buckets.max, Above0(MaxBucket(of)), StyleOf(of));
            },
            [](const Rule& r, Resource of) { return Amount(r.buckets.max, of); }},
    RuleKey{"", "margin", true,
            [](Rule& r, Resource) { return Number(r.margin_ratio, kMarginRange); },
            [](const Rule& r, Resource) { return Text(r.margin_ratio); }},
    RuleKey{"", "expansion", false,
            [](Rule& r, Resource) { return Number(r.expansion_factor, kExpansionRange); },
            [](const Rule& r, Resource) { return Text(r.expansion_factor); }},
    RuleKey{"", "confidence_interval", true,
            [](Rule& r, Resource) { return Duration(r.confidence_interval_ms, 1min, kYear); },
            [](const Rule& r, Resource) { return Time(r.confidence_interval_ms); }},
    RuleKey{"", "pod_minimum", true,
            [](Rule& r, Resource of) { return Quantity(r.pod_minimum, From0(of), StyleOf(of)); },
            [](const Rule& r, Resource of) { return Amount(r.pod_minimum, of); }},
    RuleKey{"", "floor", false,
            [](Rule& r, Resource of) { return Quantity(r.floor, From0(of), StyleOf(of)); },
            [](const Rule& r, Resource of) { return Amount(r.floor, of); }},
    RuleKey{"", "ceiling", false, [](Rule& r, Resource of) { return Ceiling(r.ceiling, of); },
            [](const Rule& r, Resource of) {
              return r.ceiling ? Amount(*r.ceiling, of) : std::string(kNoCeiling);
            }},
    RuleKey{"", "rounding", true,
            [](Rule& r, Resource of) { return Quantity(r.rounding, FromFinest(of), StyleOf(of)); },
            [](const Rule& r, Resource of) { return Amount(r.rounding, of); }},
    RuleKey{"", "static_ratio", false,
            [](Rule& r, Resource) { return Number(r.static_ratio, kStaticRatioRange); },
            [](const Rule& r, Resource) { return Text(r.static_ratio); }},
    RuleKey{"", "correction", true,
            [](Rule& r, Resource) { return Choice(r.correction, "correction", kCorrections); },
            [](const Rule& r, Resource) { return std::string(ToString(r.correction)); }},
    RuleKey{"", "throttled_from", false,
            [](Rule& r, Resource) { return Number(r.throttled_from_ratio, kThrottledRange); },
            [](const Rule& r, Resource) { return Text(r.throttled_from_ratio); }},
    RuleKey{"", "startup", false,
            [](Rule& r, Resource) { return Duration(r.startup_ms, 0ms, kMaxStartUp); },
            [](const Rule& r, Resource) { return Time(r.startup_ms); }},
    RuleKey{"", "peak_per_run", false, [](Rule& r, Resource) { return Boolean(r.peak_per_run); },
            [](const Rule& r, Resource) { return Text(r.peak_per_run); }},
    RuleKey{"", "leave_out_page_cache", false,
            [](Rule& r, Resource) { return Boolean(r.leave_out_page_cache); },
            [](const Rule& r, Resource) { return Text(r.leave_out_page_cache); }},
    RuleKey{"", "node_cap", false, [](Rule& r, Resource) { return Boolean(r.node_cap); },
            [](const Rule& r, Resource) { return Text(r.node_cap); }},
    RuleKey{"", "plateau_at_limit", false,
            [](Rule& r, Resource) { return Boolean(r.plateau_at_limit); },
            [](const Rule& r, Resource) { return Text(r.plateau_at_limit); }},
    RuleKey{"kills", "bump_ratio", true,
            [](Rule& r, Resource) { return Number(r.kills.bump_ratio, kBumpRatioRange); },
            [](const Rule& r, Resource) { return Text(r.kills.bump_ratio); }},
    RuleKey{"kills", "min_bump", true,
            [](Rule& r, Resource of) { return Quantity(r.kills.min_bump, From0(of), StyleOf(of)); },
            [](const Rule& r, Resource of) { return Amount(r.kills.min_bump, of); }},
    RuleKey{"kills", "hold", false,
            [](Rule& r, Resource) { return Duration(r.kills.hold_ms, 0ms, kYear); },
            [](const Rule& r, Resource) { return Time(r.kills.hold_ms); }},
};

}  // namespace

std::span<const ProfileKey> ProfileKeys() { return kProfileKeys; }
std::span<const RuleKey> RuleKeys() { return kRuleKeys; }

bool HasKey(Resource resource, const RuleKey& key) {
  const bool is_cpu = resource == Resource::kCpu;
  const bool is_memory = resource == Resource::kMemory;
  if (key.name == "throttled_from" || key.name == "startup") return is_cpu;
  if (key.name == "leave_out_page_cache" || key.name == "plateau_at_limit") return is_memory;
  if (key.name == "node_cap") return is_cpu || is_memory;
  return key.section != "kills" || is_memory;
}

std::string PathOf(const Profile& profile, Resource resource, const RuleKey& key) {
  return fmt::format("{}.{}{}{}", profile.names->NameOf(resource), key.section,
                     key.section.empty() ? "" : ".", key.name);
}

QuantityStyle StyleOf(Resource resource) {
  return IsBytes(resource) ? QuantityStyle::kBinary : QuantityStyle::kDecimal;
}

}  // namespace tidemark::cmd
