#pragma once
// Profiles: how the requests of which workloads are worked out.
//
// The configuration makes them; the engine estimates by them, readers show them. Plain values; a
// ProfileSet is immutable and thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/label.h"
#include "model/resource.h"
#include "model/resource_table.h"
#include "model/selector.h"
#include "model/workload_id.h"

namespace tidemark {

/// Where a profile's numbers come from before a key of its own changes them.
enum class Preset : uint8_t {
  kTidemark,  ///< the default
  kVpa,       ///< the Kubernetes Vertical Pod Autoscaler's recommender, 1.8
  kOversell,  ///< dynamic oversell: half-life histogram, weight by request, expansion
};

/// Whose samples are put together.
enum class Level : uint8_t {
  kContainer,  ///< those of one container of one workload, of all its pods
  kWorkload,   ///< those of all containers of a workload
  kNamespace,  ///< those of all containers of a namespace that have this profile
  kPod,        ///< a pod's containers are summed minute by minute; the result is split by the
               ///< containers' present requests
};

/// Which of the minutes of usage count.
enum class SampleKind : uint8_t {
  kEveryMinute,    ///< each, as it is
  kPeakPerWindow,  ///< of each container of each pod the highest of a window
};

/// What a sample weighs before it decays.
enum class WeightRule : uint8_t {
  kConstant,   ///< the sample weight
  kByRequest,  ///< the request in force, at least the sample weight
};

/// What a request is worked out from.
enum class Basis : uint8_t {
  kPercentile,  ///< the percentile of the decayed histogram
  kHighWater,   ///< the high-water mark of one risk
  kAdaptive,    ///< what the hours of the last week say, held to a share of time above the request
};

/// How the tail above the threshold of a high-water mark is fitted (docs/high-water.md).
enum class TailMethod : uint8_t {
  kAuto,     ///< moments, or likelihood where they do not fit
  kMoments,  ///< mean and variance
  kPwm,      ///< probability-weighted moments
  kMle,      ///< constrained maximum likelihood
};

/// What a pool does (dynamic oversell).
enum class PoolMode : uint8_t {
  kOff,               ///< nothing is recommended
  kStatic,            ///< the original request times a fixed ratio
  kDynamic,           ///< what the histogram says
  kStaticAndDynamic,  ///< the histogram where it knows enough, else the ratio
};

/// What right-sizing does with a recommendation where the owner's own request is known.
enum class Correction : uint8_t {
  kOff,           ///< leaves the resource alone
  kKeepOriginal,  ///< takes it only when it is less than the original
  kReplace,       ///< takes it either way
};

/// Whether right-sizing takes effect by itself.
enum class Effect : uint8_t {
  kApplied,
  kShown,  ///< the owner has to take it over
};

/// An exponential bucket layout, in the resource's unit.
struct BucketLayout {
  double first = 0.01;  ///< size of the first bucket
  double ratio = 1.05;  ///< of each bucket to the one before; above 1
  double max = 1000;    ///< what has to fit

  friend auto operator<=>(const BucketLayout&, const BucketLayout&) = default;
};

/// What a kill for memory adds to the memory that was needed at the time: the larger of the two.
struct KillRule {
  double bump_ratio = 1.2;
  double min_bump = 100.0 * 1024 * 1024;  ///< bytes
  /// For so long after a kill the request is at least what it asked for; 0: it only counts as one
  /// more peak. Not used when strict.
  int64_t hold_ms = 72 * 3600 * 1000LL;

  friend bool operator==(const KillRule&, const KillRule&) = default;
};

/// The mark that is the basis, where it is.
struct HighWaterRule {
  double risk = 0.001;  ///< the probability that it is passed; in (0, 0.5)
  TailMethod method = TailMethod::kAuto;

  friend bool operator==(const HighWaterRule&, const HighWaterRule&) = default;
};

/// What a percentile gets as `margin_ratio` unless something else is asked for.
inline constexpr double kUsualMargin = 0.15;

/// The wish that an adaptive request is held to (docs/requests.md).
struct AdaptiveRule {
  /// Of what is throttled (every minute counts): of the minutes of a pod, how many may be above the
  /// request, where use is steady; in (0, 0.5).
  double target_exceedance_ratio = 0.04;
  /// Of what is not (peaks count): multiplies what the highest hours needed; from 1 to 10.
  double safety_factor = 1.1;
  /// Of the same: never below the worst pod's maximum of seven days.
  bool keeps_week_maximum = true;
  /// Whether pods take a new request while they run. Where they have to be restarted for it, it
  /// follows the days and not the hours.
  bool resize_in_place = true;

  friend bool operator==(const AdaptiveRule&, const AdaptiveRule&) = default;
};

/// How a request of one resource is worked out. Amounts are in the resource's unit.
struct ResourceRule {
  bool enabled = true;  ///< false: nothing is recommended for it
  Basis basis = Basis::kPercentile;
  HighWaterRule high_water;
  AdaptiveRule adaptive;
  // Of the histogram, in (0, 1].
  double percentile = 0.9;
  double lower_percentile = 0.5;
  double upper_percentile = 0.95;
  int64_t half_life_ms = 24 * 3600 * 1000LL;
  SampleKind samples = SampleKind::kEveryMinute;
  int64_t window_ms = 24 * 3600 * 1000LL;  ///< of kPeakPerWindow
  WeightRule weight = WeightRule::kConstant;
  double sample_weight = 0.1;  ///< above 0
  BucketLayout buckets;
  double margin_ratio = kUsualMargin;  ///< added to the percentile
  double expansion_factor = 1;         ///< multiplies what comes of that
  int64_t confidence_interval_ms = 24 * 3600 * 1000LL;
  double pod_minimum = 0;  ///< the containers of a pod share it equally
  double floor = 0;        ///< of each container
  std::optional<double> ceiling;
  double rounding = 0.001;  ///< rounded up to a multiple of it
  double static_ratio = 1;  ///< of the original request, in static pools; (0, 1]
  Correction correction = Correction::kReplace;
  KillRule kills;  ///< memory only
  // What makes of a minute of usage something else, or takes it out.
  /// CPU: from this share of throttled periods on a minute counts for more than it could use; 1:
  /// never.
  double throttled_from_ratio = 1;
  /// CPU: minutes of pods younger than this are kept apart; 0: none are.
  int64_t startup_ms = 0;
  /// Of Jobs and CronJobs the peak of each run counts, whatever `samples` says.
  bool peak_per_run = false;
  bool leave_out_page_cache = false;  ///< memory
  // What a request is held to beside floor and ceiling.
  /// No more than the largest node can give.
  bool node_cap = false;
  /// Memory: usage that lies at the limit all the time, without kills, does not lift the request
  /// above that limit.
  bool plateau_at_limit = false;

  friend bool operator==(const ResourceRule&, const ResourceRule&) = default;
};

inline constexpr size_t kMaxHighWaterRisks = 4;

/// What is added to the basis. Where the hours are meant to be it but say nothing, a percentile
/// stands in for them, with the usual margin at least.
constexpr double MarginInForce(const ResourceRule& rule, bool by_hours) {
  if (rule.basis != Basis::kAdaptive || by_hours) return rule.margin_ratio;
  return rule.margin_ratio > kUsualMargin ? rule.margin_ratio : kUsualMargin;
}

struct Profile {
  std::string name;  ///< "default" for the one of all that no other profile takes
  Preset preset = Preset::kTidemark;
  /// Over cluster, namespace, workload_type, workload, container, and label_* of kube_pod_labels.
  Selector selector;
  Level level = Level::kContainer;
  /// With preset vpa: to the last number as the original, its known faults included.
  bool strict = false;
  PoolMode mode = PoolMode::kDynamic;
  Effect effect = Effect::kShown;
  /// Whether right-sizing may make a Guaranteed pod a Burstable one. (Its kubelet then treats it
  /// otherwise: oom_score_adj, exclusive cores.)
  bool may_change_qos = false;
  /// Of the high-water marks that are given back; falling, each in (0, 0.5), at most
  /// kMaxHighWaterRisks.
  std::vector<double> high_water_risks = {0.01, 0.001};
  std::array<ResourceRule, kResourceCount> resources;
  /// What resources are called; never null. In a ProfileSet all profiles have that of the set.
  ResourceTablePtr names = std::make_shared<const ResourceTable>();

  const ResourceRule& rule(Resource resource) const {
    return resources[static_cast<size_t>(resource)];
  }
  ResourceRule& rule(Resource resource) { return resources[static_cast<size_t>(resource)]; }
};

/// All settings of a preset; name and selector are empty.
Profile PresetProfile(Preset preset);

// As the configuration writes them: tidemark, vpa, oversell; container, workload, namespace, pod;
// every_minute, peak_per_window; constant, by_request; percentile, high_water, adaptive; auto,
// moments, pwm, mle; off, static, dynamic, static_and_dynamic; off, keep_original, replace;
// applied, shown.
std::string_view ToString(Preset preset);
std::string_view ToString(Level level);
std::string_view ToString(SampleKind kind);
std::string_view ToString(WeightRule rule);
std::string_view ToString(Basis basis);
std::string_view ToString(TailMethod method);
std::string_view ToString(PoolMode mode);
std::string_view ToString(Correction correction);
std::string_view ToString(Effect effect);

/// A container, as selectors see it.
struct ProfileSubject {
  const WorkloadId& workload;
  std::string_view container;
  /// Canonical encoding of the pods' label_* labels (model/label.h), without those that change with
  /// every revision; empty when the stream has none.
  std::string_view pod_labels;
};

/// All profiles in force; the first that matches a container applies to it.
class ProfileSet {
 public:
  /// What one profile said of a container.
  struct Judgement {
    const Profile* profile = nullptr;
    bool matches = false;
    std::string why;  ///< the matcher that failed and the value it saw; empty when it matches
  };

  /// Only the default, of preset tidemark.
  ProfileSet();
  /// `fallback` takes what none of `profiles` matches; its selector is ignored. `resources`: those
  /// in force; null: those that are built in.
  ProfileSet(std::vector<Profile> profiles, Profile fallback, ResourceTablePtr resources = nullptr);

  /// Lives as long as the set.
  const Profile& Find(const ProfileSubject& subject) const;
  /// For the sum over a pod's containers: the first of level pod that any container of the workload
  /// may have, whatever it is called; as Find where there is none. Which container the subject
  /// names does not matter.
  const Profile& FindForSum(const ProfileSubject& subject) const;
  /// In order up to the one that applies.
  std::vector<Judgement> Explain(const ProfileSubject& subject) const;

  const std::vector<Profile>& profiles() const { return profiles_; }
  const Profile& fallback() const { return fallback_; }
  /// The resources in force, the same for all profiles.
  const ResourceTable& resources() const { return *fallback_.names; }
  const ResourceTablePtr& resource_table() const { return fallback_.names; }
  /// Whether any is strict.
  bool HasStrict() const;

 private:
  std::vector<Profile> profiles_;
  Profile fallback_;
};

using ProfileSetPtr = std::shared_ptr<const ProfileSet>;

}  // namespace tidemark
