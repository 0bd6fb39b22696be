#include "cmd/replay_requests/preset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cmd/replay_requests/plain_policies.h"
#include "cmd/text.h"

namespace tidemark::replay_requests {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"vpa", "oversell", "tidemark",
                                                    "krr", "max",      "config"};

constexpr std::array kPercentiles = {0.5,  0.6,  0.7,   0.75, 0.8,   0.85,  0.9,   0.925, 0.95,
                                     0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.999};

constexpr std::array kTargets = {0.2,  0.15,  0.1,  0.08,  0.06,  0.05,  0.04,  0.03, 0.025,
                                 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 0.001};
constexpr std::array kSafeties = {0.6, 0.7, 0.8, 0.9, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3,
                                  1.4, 1.6, 1.8, 2.2, 2.6, 3.0,  4.0, 5.0,  6.0};
constexpr std::array kRisks = {0.2,   0.1,   0.05,   0.02,   0.01,  0.005,
                               0.002, 0.001, 0.0005, 0.0002, 0.0001};

/// Steps of an eighth, from a third to 22 times: 2^(k/6).
const std::array<double, 37>& Factors() {
  static const std::array<double, 37> kFactors = [] {
    std::array<double, 37> factors{};
    for (size_t k = 0; k < factors.size(); ++k) {
      factors[k] = std::exp2((static_cast<double>(k) - 9) / 6);
    }
    return factors;
  }();
  return kFactors;
}

ProfileSetPtr OnlyPreset(Preset preset, bool as_published) {
  Profile profile = PresetProfile(preset);
  if (as_published && preset == Preset::kVpa) {
    profile.strict = true;
    for (ResourceRule& rule : profile.resources) rule.pod_minimum = 0;
  }
  return std::make_shared<const ProfileSet>(std::vector<Profile>(), std::move(profile));
}

Knob KnobOf(Basis basis) {
  switch (basis) {
    case Basis::kPercentile: break;
    case Basis::kAdaptive: return Knob::kTarget;
    case Basis::kHighWater: return Knob::kRisk;
  }
  return Knob::kPercentile;
}

void Turn(Knob knob, double setting, ResourceRule& rule) {
  switch (knob) {
    case Knob::kPercentile: rule.percentile = setting; break;
    case Knob::kTarget: rule.adaptive.target_exceedance_ratio = setting; break;
    case Knob::kRisk: rule.high_water.risk = setting; break;
    case Knob::kSafety:
      rule.adaptive.safety_factor = setting;
      rule.adaptive.keeps_week_maximum = false;
      // Recorded use goes on above the request: a kill says nothing there that it does not say.
      rule.kills.hold_ms = 0;
      break;
    case Knob::kFactor: break;
  }
}

ProfileSetPtr WithKnob(const ProfileSet& profiles, Knob knob, const KnobSetting& setting) {
  std::vector<Profile> turned = profiles.profiles();
  for (Profile& profile : turned) Turn(knob, setting.value, profile.rule(setting.resource));
  Profile fallback = profiles.fallback();
  Turn(knob, setting.value, fallback.rule(setting.resource));
  return std::make_shared<const ProfileSet>(std::move(turned), std::move(fallback));
}

Result<ReplayPreset> PresetOf(std::string_view name, const ProfileSetPtr& config,
                              bool as_published) {
  ReplayPreset preset;
  preset.name = name;
  if (name == "krr") {
    preset.kind = PolicyKind::kKrr;
  } else if (name == "max") {
    preset.kind = PolicyKind::kMax;
  } else if (name == "vpa") {
    preset.profiles = OnlyPreset(Preset::kVpa, as_published);
  } else if (name == "oversell") {
    preset.profiles = OnlyPreset(Preset::kOversell, as_published);
    if (as_published) preset.rounding = Rounding::kNone;
  } else if (name == "tidemark") {
    preset.profiles = OnlyPreset(Preset::kTidemark, as_published);
  } else if (name == "config" && config != nullptr) {
    preset.profiles = config;
  } else if (name == "config") {
    return Fail(ErrorCode::kInvalidArgument,
                "config needs profiles, allowed: with --config.file=FILE");
  } else {
    const auto meant = cmd::ClosestName(name, kNames);
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is no preset{}, allowed: {}", cmd::Shown(name, name.empty()),
                    meant ? fmt::format(" (did you mean {}?)", *meant) : "", cmd::Join(kNames)));
  }
  return preset;
}

}  // namespace

std::vector<std::string_view> PresetNames() { return {kNames.begin(), kNames.end()}; }

Result<std::vector<ReplayPreset>> ParsePresets(std::string_view text, const ProfileSetPtr& config,
                                               bool as_published) {
  std::vector<ReplayPreset> presets;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    auto preset = PresetOf(name, config, as_published);
    if (!preset) return tl::unexpected(preset.error());
    if (std::ranges::count(presets, preset->name, &ReplayPreset::name) > 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} stands here twice, allowed: once", cmd::Shown(name)));
    }
    presets.push_back(*std::move(preset));
  }
  return presets;
}

ReplayPreset ForInterval(ReplayPreset preset, int64_t interval_ms) {
  if (preset.name != "tidemark" || interval_ms < kRestartIntervalMs) return preset;
  Profile profile = preset.profiles->fallback();
  for (ResourceRule& rule : profile.resources) rule.adaptive.resize_in_place = false;
  preset.profiles = std::make_shared<const ProfileSet>(std::vector<Profile>(), std::move(profile));
  return preset;
}

std::string_view ToString(Knob knob) {
  switch (knob) {
    case Knob::kPercentile: return "percentile";
    case Knob::kTarget: return "target";
    case Knob::kRisk: return "risk";
    case Knob::kSafety: return "safety";
    case Knob::kFactor: return "factor";
  }
  return "unknown";
}

Knob KnobOf(const ReplayPreset& preset, Resource resource) {
  if (preset.kind == PolicyKind::kMax) return Knob::kFactor;
  const bool is_cpu = resource == Resource::kCpu;
  if (preset.kind == PolicyKind::kKrr) return is_cpu ? Knob::kPercentile : Knob::kFactor;
  const Basis basis = preset.profiles->fallback().rule(resource).basis;
  const bool alike = std::ranges::all_of(preset.profiles->profiles(), [&](const Profile& profile) {
    return profile.rule(resource).basis == basis;
  });
  if (!alike) return Knob::kFactor;
  if (is_cpu) return KnobOf(basis);
  return basis == Basis::kAdaptive ? Knob::kSafety : Knob::kFactor;
}

std::span<const double> SettingsOf(Knob knob) {
  switch (knob) {
    case Knob::kPercentile: return kPercentiles;
    case Knob::kTarget: return kTargets;
    case Knob::kRisk: return kRisks;
    case Knob::kSafety: return kSafeties;
    case Knob::kFactor: break;
  }
  return Factors();
}

std::unique_ptr<Policy> MakePolicy(const ReplayPreset& preset, const Trace& trace,
                                   std::optional<KnobSetting> setting) {
  switch (preset.kind) {
    case PolicyKind::kKrr: return MakeKrrPolicy(setting ? setting->value : kKrrCpuPercentile);
    case PolicyKind::kMax: return MakeMaxPolicy();
    case PolicyKind::kProfiles: break;
  }
  return MakeProfilePolicy(
      setting ? WithKnob(*preset.profiles, KnobOf(preset, setting->resource), *setting)
              : preset.profiles,
      preset.rounding, trace);
}

}  // namespace tidemark::replay_requests
