#include "model/profile.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

constexpr double kMiB = 1024.0 * 1024;
constexpr BucketLayout kCoreBuckets{.first = 0.01, .ratio = 1.05, .max = 1000};
constexpr BucketLayout kByteBuckets{.first = 1e7, .ratio = 1.05, .max = 1e12};
/// Most containers write next to nothing, some write terabytes: 320 buckets.
constexpr BucketLayout kStorageBuckets{.first = 1e5, .ratio = 1.05, .max = 1e13};
/// Of whatever unit: from thousandths to petabytes, 790 buckets.
constexpr BucketLayout kCustomBuckets{.first = 0.001, .ratio = 1.05, .max = 1e15};
/// Two hundred of them, the last 173 wide (dynamic oversell).
constexpr BucketLayout kOversellCoreBuckets{.first = 0.01, .ratio = 1.05, .max = 3290};

/// Resources that the kernel takes by force, or shares out: of the first the peaks count.
bool CountsPeaks(Resource resource) {
  return resource == Resource::kMemory || resource == Resource::kGpuMemory ||
         resource == Resource::kEphemeralStorage;
}

ResourceRule BaseRule(Resource resource) {
  ResourceRule rule;
  if (IsCustom(resource)) {
    rule.buckets = kCustomBuckets;
    rule.correction = Correction::kOff;  // no pod asks for it: it is capacity to plan for
  }
  if (!CountsPeaks(resource)) return rule;
  rule.samples = SampleKind::kPeakPerWindow;
  rule.sample_weight = 1;
  rule.buckets = resource == Resource::kEphemeralStorage ? kStorageBuckets : kByteBuckets;
  rule.rounding = 1;
  return rule;
}

/// What docs/recommendations.md tells of the default preset.
void MakeTidemark(Profile& profile) {
  for (const Resource resource : kAllResources) {
    ResourceRule& rule = profile.rule(resource);
    rule.basis = Basis::kAdaptive;
    rule.margin_ratio = 0;
    // VPA's first bucket makes every tiny container one of 10 millicores or 10 MB.
    rule.buckets.first = CountsPeaks(resource) ? kMiB : 0.001;
    rule.peak_per_run = true;
  }
  ResourceRule& cpu = profile.rule(Resource::kCpu);
  cpu.floor = 0.002;  // the least share of CPU that the kernel knows: cpu.shares is 2 or more
  cpu.throttled_from_ratio = 0.25;
  cpu.startup_ms = 5 * 60 * 1000;  // the HPA's cpu-initialization-period
  cpu.node_cap = true;
  ResourceRule& memory = profile.rule(Resource::kMemory);
  memory.floor = 16 * kMiB;  // with less a container runtime may fail to start a process at all
  memory.node_cap = true;
  memory.plateau_at_limit = true;
}

void SetMinimum(Profile& profile, double cores, double bytes) {
  profile.rule(Resource::kCpu).pod_minimum = cores;
  profile.rule(Resource::kMemory).pod_minimum = bytes;
}

void MakeOversell(Profile& profile) {
  for (const Resource resource : kAllResources) {
    ResourceRule& rule = profile.rule(resource);
    rule.samples = SampleKind::kEveryMinute;
    rule.margin_ratio = 0;
    rule.percentile = CountsPeaks(resource) ? 0.99 : 0.95;
    rule.upper_percentile = rule.percentile;
    const bool kept = CountsPeaks(resource) || IsCustom(resource);
    rule.correction = kept ? Correction::kOff : Correction::kKeepOriginal;
  }
  ResourceRule& cpu = profile.rule(Resource::kCpu);
  cpu.weight = WeightRule::kByRequest;
  cpu.buckets = kOversellCoreBuckets;
}

/// The labels of a container by which profiles select, sorted by name.
std::vector<LabelView> LabelsOf(const ProfileSubject& subject) {
  std::vector<LabelView> labels;
  DecodeLabels(subject.pod_labels, labels);
  std::erase_if(labels, [](const LabelView& label) { return !label.name.starts_with("label_"); });
  const auto add = [&labels](std::string_view name, std::string_view value) {
    if (!value.empty()) labels.push_back({name, value});
  };
  add("cluster", subject.workload.cluster);
  add("container", subject.container);
  add("namespace", subject.workload.name_space);
  add("workload", subject.workload.workload);
  add("workload_type", subject.workload.workload_type);
  std::ranges::sort(labels, {}, &LabelView::name);
  return labels;
}

}  // namespace

Profile PresetProfile(Preset preset) {
  Profile profile;
  profile.preset = preset;
  for (const Resource resource : kAllResources) profile.rule(resource) = BaseRule(resource);
  switch (preset) {
    case Preset::kTidemark: MakeTidemark(profile); break;
    case Preset::kVpa: SetMinimum(profile, 0.025, 250 * kMiB); break;
    case Preset::kOversell: MakeOversell(profile); break;
  }
  return profile;
}

std::string_view ToString(Preset preset) {
  switch (preset) {
    case Preset::kTidemark: return "tidemark";
    case Preset::kVpa: return "vpa";
    case Preset::kOversell: return "oversell";
  }
  return "unknown";
}

std::string_view ToString(Level level) {
  switch (level) {
    case Level::kContainer: return "container";
    case Level::kWorkload: return "workload";
    case Level::kNamespace: return "namespace";
    case Level::kPod: return "pod";
  }
  return "unknown";
}

std::string_view ToString(SampleKind kind) {
  switch (kind) {
    case SampleKind::kEveryMinute: return "every_minute";
    case SampleKind::kPeakPerWindow: return "peak_per_window";
  }
  return "unknown";
}

std::string_view ToString(WeightRule rule) {
  switch (rule) {
    case WeightRule::kConstant: return "constant";
    case WeightRule::kByRequest: return "by_request";
  }
  return "unknown";
}

std::string_view ToString(Basis basis) {
  switch (basis) {
    case Basis::kPercentile: return "percentile";
    case Basis::kHighWater: return "high_water";
    case Basis::kAdaptive: return "adaptive";
  }
  return "unknown";
}

std::string_view ToString(TailMethod method) {
  switch (method) {
    case TailMethod::kAuto: return "auto";
    case TailMethod::kMoments: return "moments";
    case TailMethod::kPwm: return "pwm";
    case TailMethod::kMle: return "mle";
  }
  return "unknown";
}

std::string_view ToString(PoolMode mode) {
  switch (mode) {
    case PoolMode::kOff: return "off";
    case PoolMode::kStatic: return "static";
    case PoolMode::kDynamic: return "dynamic";
    case PoolMode::kStaticAndDynamic: return "static_and_dynamic";
  }
  return "unknown";
}

std::string_view ToString(Correction correction) {
  switch (correction) {
    case Correction::kOff: return "off";
    case Correction::kKeepOriginal: return "keep_original";
    case Correction::kReplace: return "replace";
  }
  return "unknown";
}

std::string_view ToString(Effect effect) {
  switch (effect) {
    case Effect::kApplied: return "applied";
    case Effect::kShown: return "shown";
  }
  return "unknown";
}

ProfileSet::ProfileSet() : ProfileSet({}, PresetProfile(Preset::kTidemark)) {}

ProfileSet::ProfileSet(std::vector<Profile> profiles, Profile fallback, ResourceTablePtr resources)
    : profiles_(std::move(profiles)), fallback_(std::move(fallback)) {
  if (!resources) resources = std::make_shared<const ResourceTable>();
  for (Profile& profile : profiles_) profile.names = resources;
  fallback_.names = std::move(resources);
  fallback_.name = "default";
  fallback_.selector = Selector();
}

const Profile& ProfileSet::Find(const ProfileSubject& subject) const {
  if (profiles_.empty()) return fallback_;
  const std::vector<LabelView> labels = LabelsOf(subject);
  const auto found = std::ranges::find_if(
      profiles_, [&](const Profile& profile) { return profile.selector.Matches(labels); });
  return found == profiles_.end() ? fallback_ : *found;
}

const Profile& ProfileSet::FindForSum(const ProfileSubject& subject) const {
  if (profiles_.empty()) return fallback_;
  const std::vector<LabelView> labels = LabelsOf(subject);
  const auto found = std::ranges::find_if(profiles_, [&](const Profile& profile) {
    return profile.level == Level::kPod && profile.selector.MatchesWithout("container", labels);
  });
  if (found != profiles_.end()) return *found;
  return fallback_.level == Level::kPod ? fallback_ : Find(subject);
}

std::vector<ProfileSet::Judgement> ProfileSet::Explain(const ProfileSubject& subject) const {
  const std::vector<LabelView> labels = LabelsOf(subject);
  std::vector<Judgement> judgements;
  for (const Profile& profile : profiles_) {
    std::string why = profile.selector.WhyNot(labels);
    const bool matches = why.empty();
    judgements.push_back({&profile, matches, std::move(why)});
    if (matches) return judgements;
  }
  judgements.push_back({&fallback_, true, ""});
  return judgements;
}

bool ProfileSet::HasStrict() const {
  const auto strict = [](const Profile& profile) { return profile.strict; };
  return strict(fallback_) || std::ranges::any_of(profiles_, strict);
}

}  // namespace tidemark
