#pragma once
// Which policies are compared: as they are named on a command line, and the one knob of each that
// is turned to compare at equal risk. Pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "model/scaling.h"

namespace tidemark::replay_policies {

struct NamedPolicy {
  std::string name;  ///< as it was asked for, e.g. hpa@70
  PolicySettings settings;
  bool is_asked = true;  ///< else it stands beside those that are, to compare with
};

/// What holds for all policies that read it; absent: what is usual for each.
struct CommonSettings {
  std::optional<double> tolerance_ratio;
  std::optional<int32_t> window_minutes;
  std::optional<double> utilization_low_ratio;
  std::optional<double> utilization_high_ratio;
  std::optional<double> high_water_risk;
  std::optional<double> slo_utilization_ratio;
  std::optional<double> slo_time_ratio;
};

/// `hpa@70,debi,tidemark@1`: names of model/scaling.h, each with its knob in per cent behind an @
/// (hpa and its predictive kin: target utilisation; debi: U_hi; tidemark: time above the
/// objective's utilisation). HPA at 50, 60 and 70 % follows where it was not asked for. At most
/// kMaxPolicies; each once. Errors say what is wrong with which part, and what is allowed.
Result<std::vector<NamedPolicy>> ParsePolicies(std::string_view list, const CommonSettings& common);
inline constexpr size_t kMaxPolicies = 32;

/// What all others are held against.
inline constexpr std::string_view kBaseline = "hpa@50";

bool IsHpa(ScalingPolicy policy);   ///< hpa and its predictive kin
bool IsDebi(ScalingPolicy policy);  ///< debi and debi-paper
/// Whether it goes by an LSTM's or a BiLSTM's forecast and nothing else.
bool NeedsNetwork(ScalingPolicy policy);
bool ReadsHighWater(ScalingPolicy policy);

/// The one setting that trades cost for risk.
double KnobOf(const PolicySettings& settings);
PolicySettings WithKnob(PolicySettings settings, double knob);
/// All that is tried, rising, the present one among them: target 10 to 100 % and U_hi from U_lo to
/// 100 % in steps of one per cent, time of the objective 0.05 to 31.5 % in tenths of a decade.
std::vector<double> KnobRange(const PolicySettings& settings);
/// "target", "U_hi" or "slo time", and its value: "target 55 %".
std::string KnobText(ScalingPolicy policy, double knob);
/// As configuration and JSON write it: target_utilization, utilization.high, slo.time.
std::string_view KnobName(ScalingPolicy policy);

}  // namespace tidemark::replay_policies
