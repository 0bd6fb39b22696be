#include "engine/request_history.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "estimators/amount.h"
#include "model/log.h"

namespace tidemark::engine {
namespace {

using estimators::MemoryPeakWindow;
using estimators::WindowRule;

/// As long as VPA keeps an aggregate: 8 intervals of a day.
constexpr auto kAggregateRetention = std::chrono::hours(8 * 24);

/// A minute's value is known when the minute is over.
estimators::Time EndOf(workloads::UsageMinute minute) {
  return estimators::Time(std::chrono::milliseconds(minute.start_ms + workloads::kMinuteMs));
}

/// What a kill asks for where no peaks are kept: of the request, or of the most that was used,
/// where that is more: a container may use more than it requests, up to its limit.
double NeededAfter(double requested, const UsageTrack* track,
                   const estimators::KillPolicy& policy) {
  const double most = track == nullptr ? 0 : track->own().histogram.Percentile(1);
  return estimators::NeededAfterKill(std::max(requested, most), policy);
}

/// What no container of one pod can use: a counter that jumps there is broken, and would stand in
/// what is remembered of a week.
double MostUsage(Resource resource) {
  switch (resource) {
    case Resource::kCpu: return 1e5;             // cores
    case Resource::kGpuUtilization: return 1e4;  // whole GPUs
    case Resource::kMemory:
    case Resource::kGpuMemory:
    case Resource::kEphemeralStorage: return 1e15;  // bytes
    default: return 1e18;
  }
}

/// In bytes; 0 where it is not known. More than any amount there is says nothing.
double RequestOf(const workloads::Kill& kill) {
  const double requested = kill.requested_bytes.value_or(0);
  return requested <= static_cast<double>(estimators::kMaxAmount) ? std::max(0.0, requested) : 0;
}

estimators::KillPolicy PolicyOf(const Profile& profile) {
  const KillRule& kills = profile.rule(Resource::kMemory).kills;
  return {
      .bump_ratio = kills.bump_ratio, .min_bump_bytes = kills.min_bump, .as_vpa = profile.strict};
}

}  // namespace

RequestHistory::RequestHistory(ProfileSetPtr profiles, ForecastSettingsPtr forecast,
                               DemandPlaces* places, DemandTracks::Keeps keeps,
                               ScalingSettingsPtr scaling)
    : keeps_(keeps),
      profiles_(std::move(profiles)),
      demand_(std::move(forecast), places, keeps),
      scaling_(std::move(scaling)) {}

void RequestHistory::SetRules(ProfileSetPtr profiles, ForecastSettingsPtr forecast,
                              ScalingSettingsPtr scaling) {
  demand_.SetSettings(std::move(forecast));
  scaling_.SetSettings(std::move(scaling));
  profiles_before_ = std::exchange(profiles_, std::move(profiles));
  for (const auto& container : containers_) {
    if (container) container->profile = &profiles_->fallback();
  }
}

void RequestHistory::ContainerIs(uint32_t container, const ProfileSubject& subject) {
  if (subject.container == workloads::kDemand) {
    demand_.WorkloadIs(container, subject.workload);
    scaling_.WorkloadIs(container, subject.workload);
  }
  Container& known = At(container);
  known.profile = subject.container == workloads::kPodSum ? &profiles_->FindForSum(subject)
                                                          : &profiles_->Find(subject);
  const std::string& type = subject.workload.workload_type;
  known.is_job = type == "job" || type == "cronjob";
  known.changed = true;
  known.tracks.ForEach([&](Resource resource, auto& track) {
    if (track) track->Adapt(*known.profile, resource, KindOf(known, resource), layouts_);
  });
}

bool RequestHistory::LeavesOutPageCache(uint32_t container) const {
  return ProfileOf(container)->rule(Resource::kMemory).leave_out_page_cache;
}

bool RequestHistory::SumsByPod(uint32_t container) const {
  return ProfileOf(container)->level == Level::kPod;
}

const Profile* RequestHistory::ProfileOf(uint32_t container) const {
  const bool known = container < containers_.size() && containers_[container] != nullptr;
  return known ? containers_[container]->profile : &profiles_->fallback();
}

RequestHistory::Container& RequestHistory::At(uint32_t container) {
  if (container >= containers_.size()) containers_.resize(container + 1);
  auto& slot = containers_[container];
  if (!slot) {
    slot = std::make_unique<Container>();
    slot->profile = &profiles_->fallback();
  }
  return *slot;
}

RequestHistory::Instance& RequestHistory::InstanceAt(uint32_t instance) {
  if (instance >= instances_.size()) instances_.resize(instance + 1);
  auto& slot = instances_[instance];
  if (!slot) slot = std::make_unique<Instance>();
  return *slot;
}

UsageTrack& RequestHistory::TrackAt(Container& container, Resource resource) {
  auto& track = container.tracks.At(resource);
  if (!track) {
    track = std::make_unique<UsageTrack>(*container.profile, resource, KindOf(container, resource),
                                         layouts_);
  }
  return *track;
}

/// The running window; one of another length or rule begins when the running one is over.
MemoryPeakWindow& RequestHistory::WindowAt(Instance& instance, Resource resource,
                                           const Profile& profile, estimators::Time time) {
  const std::chrono::milliseconds length(profile.rule(resource).window_ms);
  const WindowRule rule = profile.strict ? WindowRule::kVpa : WindowRule::kMended;
  auto& window = instance.windows.At(resource);
  const bool over = window && (!window->WindowEnd() || time >= *window->WindowEnd());
  if (!window || (over && (window->interval() != length || window->rule() != rule))) {
    window = std::make_unique<MemoryPeakWindow>(length, rule);
  }
  return *window;
}

/// What a minute counts for; nullopt: it is left out.
std::optional<double> RequestHistory::CountedUsage(Container& container, Resource resource,
                                                   workloads::UsageMinute minute,
                                                   const workloads::MinuteContext& context) {
  const ResourceRule& rule = container.profile->rule(resource);
  if (!container.profile->strict && !(minute.usage <= MostUsage(resource))) return std::nullopt;
  const auto signs = [&container]() -> UsageSigns& {
    if (!container.signs) container.signs = std::make_unique<UsageSigns>();
    return *container.signs;
  };
  if (resource == Resource::kMemory) {
    // The kernel gives page cache back before it kills. The metric counts inactive cache too, which
    // the working set leaves out: where there is more cache than usage nothing can be said.
    if (!rule.leave_out_page_cache || !(context.page_cache_bytes > 0)) return minute.usage;
    if (context.page_cache_bytes >= minute.usage) return minute.usage;
    return minute.usage - context.page_cache_bytes;
  }
  if (resource != Resource::kCpu) return minute.usage;
  const int64_t end_ms = minute.start_ms + workloads::kMinuteMs;
  const bool is_young = context.pod_age_ms && *context.pod_age_ms <= rule.startup_ms;
  if (is_young && rule.startup_ms > 0 && !container.is_job) {
    const auto& track = container.tracks.Get(resource);
    const bool others_known = track != nullptr && track->own().minutes.Count() > 0;
    if (others_known || signs().minutes_left_out() < UsageSigns::kStartUpMinutes) {
      signs().LeaveOut(end_ms, minute.usage);
      return std::nullopt;
    }
  }
  const bool throttled = rule.throttled_from_ratio < 1 &&
                         context.throttled_ratio >= rule.throttled_from_ratio &&
                         context.throttled_ratio > 0;
  if (throttled || container.signs) signs().Count(end_ms, throttled);
  if (!throttled) return minute.usage;
  // In a period in which it was throttled the container would have gone on: at most as long again.
  // How much of that its limit stood in the way of shows by how near to the limit its mean came.
  const double nearness =
      context.limit && *context.limit > 0 ? std::min(1.0, minute.usage / *context.limit) : 1;
  return minute.usage * (1 + context.throttled_ratio * nearness);
}

/// False: the sample does not count.
bool RequestHistory::AddMinute(const Profile& profile, SampleKind samples, Instance& instance,
                               Resource resource, History& history, estimators::Time time,
                               double usage, std::optional<double> request) {
  const ResourceRule& rule = profile.rule(resource);
  if (samples == SampleKind::kPeakPerWindow) {
    return WindowAt(instance, resource, profile, time).AddSample(history.histogram, time, usage);
  }
  if (profile.strict) {
    if (usage < 0 || (instance.has_sample && time <= instance.last_sample)) return false;
    instance.has_sample = true;
    instance.last_sample = time;
  }
  const double weight = rule.weight == WeightRule::kByRequest
                            ? std::max(request.value_or(0), rule.sample_weight)
                            : rule.sample_weight;
  return history.histogram.Add(usage, weight, time, &decay_);
}

void RequestHistory::AddUsage(uint32_t container, uint32_t instance, Resource resource,
                              workloads::UsageMinute minute,
                              const workloads::MinuteContext& context) {
  Container& known = At(container);
  const std::optional<double> usage = CountedUsage(known, resource, minute, context);
  if (!usage) {
    known.changed = true;
    return;
  }
  Instance& pod = InstanceAt(instance);
  UsageTrack& track = TrackAt(known, resource);
  History& history = track.For(pod.labels);
  const estimators::Time time = EndOf(minute);
  if (!AddMinute(*known.profile, track.kind().samples, pod, resource, history, time, *usage,
                 context.request)) {
    return;
  }
  history.minutes.Record(time);
  const estimators::Time start{std::chrono::milliseconds(minute.start_ms)};
  track.CountHour(start, *usage, known.profile->rule(resource));
  track.CountHighWater(minute.start_ms, *usage, known.profile->rule(resource));
  track.HasGrown();
  known.changed = true;
}

void RequestHistory::AddKill(uint32_t container, uint32_t instance, const workloads::Kill& kill) {
  Container& known = At(container);
  Instance& pod = InstanceAt(instance);
  known.changed = true;
  const Profile& profile = *known.profile;
  const ResourceRule& rule = profile.rule(Resource::kMemory);
  const estimators::KillPolicy policy = PolicyOf(profile);
  const estimators::Time time{std::chrono::milliseconds(kill.time_ms)};
  const double requested = RequestOf(kill);
  std::optional<double> needed;
  if (rule.samples == SampleKind::kPeakPerWindow) {
    UsageTrack& track = TrackAt(known, Resource::kMemory);
    needed = WindowAt(pod, Resource::kMemory, profile, time)
                 .AddKill(track.For(pod.labels).histogram, time, requested, policy);
  } else {
    // One minute among thousands moves no percentile: the kill counts by its hold alone.
    needed = NeededAfter(requested, TrackOf(container, Resource::kMemory), policy);
  }
  if (!needed || profile.strict || rule.kills.hold_ms == 0) return;
  if (!known.kills) known.kills = std::make_unique<KillLog>();
  known.kills->Add({kill.time_ms, kill.requested_bytes, *needed});
}

std::optional<workloads::DemandWish> RequestHistory::DemandOf(const WorkloadId& workload) const {
  return demand_.WishOf(workload);
}

void RequestHistory::AddDemand(uint32_t container, Resource resource,
                               const workloads::DemandMinute& minute,
                               const workloads::DemandFacts& facts) {
  // As of a pod, a broken counter is no demand, and would stand in eight days of it.
  if (!(minute.demand <= MostUsage(resource) * std::max(1.0, static_cast<double>(minute.pods))))
    return;
  if (!demand_.Add(container, resource, minute) || keeps_ == DemandTracks::Keeps::kHistory) return;
  scaling_.Add(container, resource, minute, facts, demand_.TrackOf(container));
}

void RequestHistory::SetLabelSet(uint32_t instance, uint64_t labels) {
  InstanceAt(instance).labels = labels;
}

Result<void> RequestHistory::MergeTracks(Container& from, Container& into) {
  Result<void> merged;
  from.tracks.ForEach([&](Resource resource, auto& gone) {
    if (!gone || !merged) return;
    auto& kept = into.tracks.At(resource);
    if (!kept) {
      kept = std::move(gone);
    } else {
      merged = kept->Merge(*gone, into.profile->rule(resource));
    }
  });
  if (!merged) return merged;
  if (from.kills) {
    if (!into.kills) into.kills = std::make_unique<KillLog>();
    into.kills->Merge(*from.kills);
  }
  if (from.signs) {
    if (!into.signs) into.signs = std::make_unique<UsageSigns>();
    into.signs->Merge(*from.signs);
  }
  into.changed = true;
  return {};
}

void RequestHistory::MergeContainer(uint32_t from, uint32_t into) {
  demand_.Merge(from, into);
  scaling_.Merge(from, into);
  if (from == into || from >= containers_.size() || !containers_[from]) return;
  Container& target = At(into);  // may move the other's place, not the other
  Container& source = *containers_[from];
  source.tracks.ForEach([&](Resource resource, auto& track) {
    if (track) track->Adapt(*target.profile, resource, KindOf(target, resource), layouts_);
  });
  if (auto merged = MergeTracks(source, target); !merged) {
    LogOncePerMinute("merge", LogLevel::kWarn, "the histories of two containers cannot be added up",
                     {{"err", merged.error().message}});
  }
}

void RequestHistory::RemoveContainer(uint32_t container) {
  demand_.Remove(container);
  scaling_.Remove(container);
  if (container < containers_.size()) containers_[container].reset();
}

void RequestHistory::RemoveInstance(uint32_t instance) {
  if (instance < instances_.size()) instances_[instance].reset();
}

void RequestHistory::Collect(uint32_t container, int64_t event_time_ms) {
  if (container >= containers_.size() || !containers_[container]) return;
  Container& known = *containers_[container];
  const estimators::Time before =
      estimators::Time(std::chrono::milliseconds(event_time_ms)) - kAggregateRetention;
  known.tracks.ForEach([before](Resource, auto& track) {
    if (track) track->Collect(before);
  });
  CloseHours(container, estimators::Time(std::chrono::milliseconds(event_time_ms)));
  if (!known.kills) return;
  known.kills->Expire(event_time_ms, known.profile->rule(Resource::kMemory).kills.hold_ms);
  if (known.kills->empty()) known.kills.reset();
  known.changed = true;
}

void RequestHistory::CloseHours(uint32_t container, estimators::Time time) {
  if (container >= containers_.size() || !containers_[container]) return;
  Container& known = *containers_[container];
  known.tracks.ForEach([&](Resource resource, auto& track) {
    if (!track || track->hours().IsEmpty()) return;
    track->CloseHour(time, known.profile->rule(resource));
    known.changed = true;
  });
}

void RequestHistory::ForgetRunningPeaks(uint32_t container, uint32_t instance,
                                        estimators::Time now) {
  if (container >= containers_.size() || !containers_[container]) return;
  if (instance >= instances_.size() || !instances_[instance]) return;
  Container& known = *containers_[container];
  if (!known.profile->strict) return;
  Instance& pod = *instances_[instance];
  pod.windows.ForEach([&](Resource resource, auto& window) {
    UsageTrack* const track = known.tracks.Get(resource).get();
    if (window && track != nullptr) window->TakeBack(track->For(pod.labels).histogram, now);
    window.reset();
  });
  pod.has_sample = false;
}

void RequestHistory::GoThroughCheckpoint(uint32_t container) {
  if (container >= containers_.size() || !containers_[container]) return;
  Container& known = *containers_[container];
  if (!known.profile->strict) return;
  known.changed = true;
  known.tracks.ForEach([](Resource, auto& track) {
    if (track) track->GoThroughCheckpoint();
  });
}

const UsageTrack* RequestHistory::TrackOf(uint32_t container, Resource resource) const {
  if (container >= containers_.size() || !containers_[container]) return nullptr;
  return containers_[container]->tracks.Get(resource).get();
}

const KillLog* RequestHistory::KillsOf(uint32_t container) const {
  if (container >= containers_.size() || !containers_[container]) return nullptr;
  return containers_[container]->kills.get();
}

const UsageSigns* RequestHistory::SignsOf(uint32_t container) const {
  if (container >= containers_.size() || !containers_[container]) return nullptr;
  return containers_[container]->signs.get();
}

bool RequestHistory::IsJob(uint32_t container) const {
  return container < containers_.size() && containers_[container] && containers_[container]->is_job;
}

bool RequestHistory::TakeChanged(uint32_t container) {
  if (container >= containers_.size() || !containers_[container]) return false;
  return std::exchange(containers_[container]->changed, false);
}

}  // namespace tidemark::engine
