#pragma once
// The presets that can be replayed, by name, and the knob that each of them has.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/replay_requests/policy.h"
#include "cmd/replay_requests/profile_policy.h"
#include "model/profile.h"
#include "model/result.h"

namespace tidemark::replay_requests {

enum class PolicyKind : uint8_t { kProfiles, kKrr, kMax };

struct ReplayPreset {
  std::string name;
  PolicyKind kind = PolicyKind::kProfiles;
  ProfileSetPtr profiles;  ///< of kProfiles; never null there
  Rounding rounding = Rounding::kAsDaemon;
};

/// `vpa`, `oversell`, `tidemark`: those of the configuration. `krr`, `max`: plain rules. `config`:
/// the user's own profiles.
std::vector<std::string_view> PresetNames();

/// `text`: names separated by commas. `config`: the profiles of the user's file; null without one.
/// `as_published`: vpa and oversell as their originals were measured: vpa strict and without the
/// minimum of a pod, oversell before its amounts are whole and without what kills ask for. Errors
/// name the name and what is allowed.
Result<std::vector<ReplayPreset>> ParsePresets(std::string_view text, const ProfileSetPtr& config,
                                               bool as_published);

/// What is turned to make a preset more or less careful.
enum class Knob : uint8_t {
  kPercentile,
  kTarget,  ///< the share of time above the request that an adaptive one is held to
  kRisk,    ///< of a high-water mark
  kSafety,  ///< the factor of an adaptive one whose resource is not throttled, in place of the
            ///< week's maximum as the least
  kFactor,  ///< of everything that it says
};
std::string_view ToString(Knob knob);

/// The preset's own: of CPU what its basis has, a factor where its profiles have several; of memory
/// the safety factor of adaptive ones, else a factor.
Knob KnobOf(const ReplayPreset& preset, Resource resource);
/// Settings from careless to careful.
std::span<const double> SettingsOf(Knob knob);

/// A knob of one resource, set.
struct KnobSetting {
  Resource resource = Resource::kCpu;
  double value = 0;
};

/// One replay of one trace. `setting`: of the preset's knob for that resource, unless that is a
/// factor, instead of the preset's own.
std::unique_ptr<Policy> MakePolicy(const ReplayPreset& preset, const Trace& trace,
                                   std::optional<KnobSetting> setting = std::nullopt);

/// Requests that change less often than this go to new pods: from here on preset tidemark goes by
/// the days (`resize_in_place: false`). The user's own profiles stay as they are.
inline constexpr int64_t kRestartIntervalMs = 24LL * 3600 * 1000;
ReplayPreset ForInterval(ReplayPreset preset, int64_t interval_ms);

}  // namespace tidemark::replay_requests
