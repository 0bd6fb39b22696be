#include "engine/advisor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <string>

namespace tidemark::engine {
namespace {

using workloads::ContainerView;
using workloads::WorkloadView;

HighWaterReading HighWaterOf(const UsageTrack* track, Resource resource) {
  HighWaterReading reading;
  reading.resource = resource;
  if (track == nullptr) return reading;
  reading.track = &track->high_water();
  reading.histogram = track->MinutesHistogram();
  return reading;
}

/// Of all risks that the profile names.
void SetMarks(const HighWaterReading& reading, const Profile& profile, ResourceAdvice& advice) {
  if (!reading.HasMarks() || !profile.rule(reading.resource).enabled) return;
  advice.high_water.reserve(profile.high_water_risks.size());
  for (const double risk : profile.high_water_risks) {
    if (const auto mark = reading.MarkOf(risk)) advice.high_water.push_back(*mark);
  }
}

/// A pod's sum begins a little later than its containers.
constexpr auto kSumMayLag = std::chrono::minutes(15);

int64_t ToMs(estimators::Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// Adds what another reading holds to one of the same rule; of another rule it cannot be added and
/// stands beside it.
void AddReading(UsageTrack::Reading&& from, const ResourceRule& rule,
                std::vector<UsageTrack::Reading>& to) {
  // Without a minute it can still hold the peaks of kills.
  if (from.minutes.Count() == 0 && from.histogram().TotalWeight() == 0) return;
  for (UsageTrack::Reading& sum : to) {
    if (sum.is_earlier != from.is_earlier) continue;
    estimators::DecayingHistogram copy = from.histogram();
    if (!sum.merged->Merge(copy)) continue;
    sum.minutes.Merge(from.minutes);
    if (from.hours == nullptr) return;
    if (sum.merged_hours == nullptr) sum.merged_hours = std::make_shared<HoursTrack>();
    sum.merged_hours->Merge(*from.hours, rule);
    sum.hours = sum.merged_hours.get();
    return;
  }
  if (!from.merged) from.merged = *from.one;
  from.one = nullptr;
  if (from.hours != nullptr) {
    from.merged_hours = std::make_shared<HoursTrack>(*from.hours);
    from.hours = from.merged_hours.get();
  }
  to.push_back(std::move(from));
}

/// Walks what was said before beside the views: both are sorted by type and name.
class Earlier {
 public:
  explicit Earlier(const NamespaceBlock* block) : block_(block) {}

  const WorkloadAdvice* Find(const WorkloadId& id) {
    if (block_ == nullptr) return nullptr;
    const auto& all = block_->workloads;
    while (next_ < all.size() && Key(all[next_].id) < Key(id)) ++next_;
    return next_ < all.size() && Key(all[next_].id) == Key(id) ? &all[next_] : nullptr;
  }

 private:
  static std::pair<std::string_view, std::string_view> Key(const WorkloadId& id) {
    return {id.workload_type, id.workload};
  }
  const NamespaceBlock* block_;
  size_t next_ = 0;
};

const ContainerAdvice* FindContainer(const WorkloadAdvice* workload, std::string_view name) {
  if (workload == nullptr) return nullptr;
  const auto found = std::ranges::find(workload->containers, name, &ContainerAdvice::container);
  return found == workload->containers.end() ? nullptr : &*found;
}

const ResourceAdvice* FindResource(const ContainerAdvice* container, Resource resource) {
  if (container == nullptr) return nullptr;
  const auto found = std::ranges::find(container->resources, resource, &ResourceAdvice::resource);
  return found == container->resources.end() ? nullptr : &*found;
}

/// What holds now and is no estimate.
void SetPresent(const ContainerView& container, const WorkloadView& workload,
                ResourceAdvice& advice) {
  advice.current_request = container.request.Get(advice.resource);
  advice.current_limit = container.limit.Get(advice.resource);
  advice.reclaimable.reset();
  if (!advice.recommended_request || !advice.current_request) return;
  const double each = *advice.current_request - *advice.recommended_request;
  if (std::isfinite(each * workload.replicas)) advice.reclaimable = each * workload.replicas;
}

ExplainedHistogram Explained(const UsageTrack::Reading& reading) {
  const estimators::DecayingHistogram& histogram = reading.histogram();
  ExplainedHistogram out;
  out.samples = reading.minutes.Count();
  if (reading.minutes.First()) out.first_sample_ms = ToMs(*reading.minutes.First());
  if (reading.minutes.Last()) out.last_sample_ms = ToMs(*reading.minutes.Last());
  out.half_life_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(histogram.half_life()).count();
  out.total_weight = histogram.TotalWeight();
  out.p50 = histogram.Percentile(0.5);
  out.p90 = histogram.Percentile(0.9);
  out.p95 = histogram.Percentile(0.95);
  out.p99 = histogram.Percentile(0.99);
  out.max = histogram.Percentile(1);
  const estimators::HistogramOptions& layout = histogram.options();
  for (int bucket = histogram.MinBucket(); bucket <= histogram.MaxBucket(); ++bucket) {
    const double weight = histogram.Weight(bucket);
    if (!(weight > 0) || !(out.total_weight > 0)) continue;
    const int next = std::min(bucket + 1, layout.NumBuckets() - 1);
    out.buckets.push_back(
        {layout.BucketStart(bucket), layout.BucketStart(next), weight / out.total_weight});
  }
  return out;
}

}  // namespace

Advisor::Advisor(RequestHistory& history, std::span<const WorkloadView> views,
                 int64_t event_time_ms, const NodeSize& largest_node, EngineCounters& counters)
    : history_(history),
      views_(views),
      event_time_ms_(event_time_ms),
      largest_node_(largest_node),
      counters_(counters) {}

/// The group that a container is read with; none where it is read alone.
std::optional<Advisor::Group> Advisor::GroupOf(size_t view, const Profile& profile) {
  switch (profile.level) {
    case Level::kWorkload: return Group{view, &profile};
    case Level::kNamespace: return Group{kAll, &profile};
    case Level::kContainer:
    case Level::kPod: break;
  }
  return std::nullopt;
}

/// Which containers something has happened to, or to one that they are read with.
std::vector<std::vector<bool>> Advisor::TakeChanges() {
  std::vector<std::vector<bool>> changes(views_.size());
  std::set<Group> changed_groups;
  for (size_t v = 0; v < views_.size(); ++v) {
    const bool sum = views_[v].pod_sum && history_.TakeChanged(*views_[v].pod_sum);
    for (const ContainerView& container : views_[v].containers) {
      const Profile& profile = *history_.ProfileOf(container.container);
      const bool own = history_.TakeChanged(container.container);
      const auto group = GroupOf(v, profile);
      if (own && group) changed_groups.insert(*group);
      // A pod's sum is split by requests, which may change without a sample.
      changes[v].push_back(own || sum || profile.level == Level::kPod);
    }
  }
  if (changed_groups.empty()) return changes;
  for (size_t v = 0; v < views_.size(); ++v) {
    for (size_t c = 0; c < views_[v].containers.size(); ++c) {
      const auto group = GroupOf(v, *history_.ProfileOf(views_[v].containers[c].container));
      if (group && changed_groups.contains(*group)) changes[v][c] = true;
    }
  }
  return changes;
}

const UsageTrack::Reading* Advisor::ReadGroup(const Group& group, Resource resource) {
  const auto [place, added] = groups_.try_emplace({group, resource});
  UsageTrack::Reading& reading = place->second;
  if (added) {
    const size_t first = group.first == kAll ? 0 : group.first;
    const size_t last = group.first == kAll ? views_.size() : group.first + 1;
    std::vector<UsageTrack::Reading> sums;
    for (size_t v = first; v < last; ++v) {
      for (const ContainerView& container : views_[v].containers) {
        if (history_.ProfileOf(container.container) != group.second) continue;
        const UsageTrack* const track = history_.TrackOf(container.container, resource);
        if (track != nullptr) AddReading(track->Read(), group.second->rule(resource), sums);
      }
    }
    // For some time after a change of the rule there are several: who knows most answers, so that
    // neither a container that has just come nor one that has long been silent speaks for all.
    const auto most = std::ranges::max_element(
        sums, {}, [](const UsageTrack::Reading& sum) { return sum.minutes.Count(); });
    if (most != sums.end()) reading = std::move(*most);
  }
  return reading.merged ? &reading : nullptr;
}

/// False: nothing is known of its usage.
bool Advisor::Read(size_t view, const ContainerView& container, Resource resource,
                   UsageTrack::Reading& reading) {
  if (const auto group = GroupOf(view, *history_.ProfileOf(container.container))) {
    const UsageTrack::Reading* const shared = ReadGroup(*group, resource);
    if (shared == nullptr) return false;
    reading.minutes = shared->minutes;
    reading.is_earlier = shared->is_earlier;
    reading.one = &shared->histogram();
    reading.hours = shared->hours;
    return true;
  }
  const UsageTrack* const track = history_.TrackOf(container.container, resource);
  if (track == nullptr) return false;
  reading = track->Read();
  return true;
}

/// Of containers that are read together the one whose mark is highest: the level that all of them
/// together pass with the risk is not above it.
const HighWaterReading& Advisor::ReadGroupHighWater(const Group& group, Resource resource) {
  const auto [place, added] = group_marks_.try_emplace({group, resource});
  HighWaterReading& highest = place->second;
  if (!added) return highest;
  const double risk = group.second->rule(resource).high_water.risk;
  const size_t first = group.first == kAll ? 0 : group.first;
  const size_t last = group.first == kAll ? views_.size() : group.first + 1;
  double value = -1;
  for (size_t v = first; v < last; ++v) {
    for (const ContainerView& container : views_[v].containers) {
      if (history_.ProfileOf(container.container) != group.second) continue;
      const HighWaterReading each =
          HighWaterOf(history_.TrackOf(container.container, resource), resource);
      const auto level = each.LevelOf(risk);
      if (!level || level->value <= value) continue;
      value = level->value;
      highest = each;
    }
  }
  return highest;
}

/// After the usage has been gathered: a pod's sum is known by its share.
void Advisor::ReadHighWater(size_t view, const ContainerView& container, Resource resource,
                            Inputs& out) {
  HighWaterReading& reading = out.inputs.high_water;
  if (out.inputs.share) {
    reading = HighWaterOf(history_.TrackOf(*views_[view].pod_sum, resource), resource);
    reading.share = out.inputs.share;
  } else if (const auto group = GroupOf(view, *history_.ProfileOf(container.container))) {
    reading = ReadGroupHighWater(*group, resource);
  } else {
    reading = HighWaterOf(history_.TrackOf(container.container, resource), resource);
  }
  reading.limit = container.limit.Get(resource);
}

/// Among the containers that the pod has now and whose usage is summed: what one used that is gone
/// is in the sum no more, and its share would be missing to the others.
void Advisor::SetShare(const WorkloadView& workload, const ContainerView& container,
                       Resource resource, RequestInputs& inputs) const {
  double sum = 0;
  bool all_known = true;
  size_t sharing = 0;
  for (const ContainerView& each : workload.containers) {
    if (!each.in_pod || !history_.SumsByPod(each.container)) continue;
    // Of what only some containers of the pod use (a GPU) the others have no share.
    if (!HasAnything(each, resource)) continue;
    const double request = each.request.Get(resource).value_or(0);
    ++sharing;
    all_known = all_known && request > 0;
    sum += request;
  }
  inputs.share_by_request = all_known && std::isfinite(sum);
  inputs.share = inputs.share_by_request ? *container.request.Get(resource) / sum
                                         : 1 / static_cast<double>(std::max<size_t>(1, sharing));
}

void Advisor::Gather(size_t view, const ContainerView& container, Resource resource, Inputs& out) {
  const WorkloadView& workload = views_[view];
  const Profile& profile = *history_.ProfileOf(container.container);
  RequestInputs& inputs = out.inputs;
  inputs.profile = &profile;
  inputs.resource = resource;
  inputs.original_request = container.original_request.Get(resource);
  // VPA's minimum is shared by every name it still remembers (kubernetes/autoscaler #6744).
  inputs.containers = profile.strict ? workload.containers.size() : workload.containers_in_pod;
  if (Read(view, container, resource, out.reading)) inputs.usage = &out.reading;
  UsageTrack::Reading cpu;
  if (Read(view, container, Resource::kCpu, cpu)) inputs.cpu_minutes = cpu.minutes;
  // A container that the pod has no more has no part in the sum: its own usage is what is known.
  if (profile.level == Level::kPod && container.in_pod) {
    const UsageTrack* const sum =
        workload.pod_sum ? history_.TrackOf(*workload.pod_sum, resource) : nullptr;
    const bool old_enough = sum != nullptr && sum->Read().minutes.Count() > 0 &&
                            (inputs.usage == nullptr || sum->Spans(UsageTrack::kFreshAfter) ||
                             *sum->Read().minutes.First() - kSumMayLag <=
                                 inputs.usage->minutes.First().value_or(estimators::Time::max()));
    if (old_enough) {
      out.reading = sum->Read();
      inputs.usage = &out.reading;
      SetShare(workload, container, resource, inputs);
    } else if (inputs.usage != nullptr && inputs.usage->minutes.Count() > 0 &&
               *inputs.usage->minutes.Last() - *inputs.usage->minutes.First() > kSumMayLag) {
      out.reading.is_earlier = true;  // a container that has just come has no rule before
    }
  }
  ReadHighWater(view, container, resource, out);
  inputs.limit = container.limit.Get(resource);
  inputs.signs = history_.SignsOf(container.container);
  inputs.is_job = history_.IsJob(container.container);
  inputs.event_time_ms = event_time_ms_;
  if (static_cast<size_t>(resource) < largest_node_.size()) {
    inputs.node = largest_node_[static_cast<size_t>(resource)];
  }
  const KillLog* const kills =
      resource == Resource::kMemory ? history_.KillsOf(container.container) : nullptr;
  if (kills != nullptr && !profile.strict) {
    const int64_t hold_ms = profile.rule(resource).kills.hold_ms;
    inputs.kills = kills->Count(event_time_ms_, hold_ms);
    inputs.kills_needed = kills->Needed(event_time_ms_, hold_ms);
  }
}

bool Advisor::HasAnything(const ContainerView& container, Resource resource) const {
  if (container.request.Get(resource) || container.limit.Get(resource) ||
      container.original_request.Get(resource)) {
    return true;
  }
  if (history_.TrackOf(container.container, resource) != nullptr) return true;
  if (resource == Resource::kMemory && history_.KillsOf(container.container) != nullptr)
    return true;
  const bool strict = history_.ProfileOf(container.container)->strict;
  if (!strict || (resource != Resource::kCpu && resource != Resource::kMemory)) return false;
  // VPA answers for both as soon as it has anything of one.
  return history_.TrackOf(container.container, Resource::kCpu) != nullptr ||
         history_.TrackOf(container.container, Resource::kMemory) != nullptr;
}

ResourceAdvice Advisor::AdviseOne(size_t view, const ContainerView& container, Resource resource) {
  Inputs gathered;
  Gather(view, container, resource, gathered);
  ResourceAdvice advice;
  advice.resource = resource;
  WorkOutRequest(gathered.inputs, advice);
  SetMarks(gathered.inputs.high_water, *gathered.inputs.profile, advice);
  counters_.estimates.fetch_add(1, std::memory_order_relaxed);
  return advice;
}

std::vector<WorkloadAdvice> Advisor::Advise(const NamespaceBlock* before) {
  const std::vector<std::vector<bool>> changes = TakeChanges();
  if (before != nullptr && before->profiles != history_.profiles()) before = nullptr;
  Earlier earlier(before);
  std::vector<WorkloadAdvice> all;
  for (size_t v = 0; v < views_.size(); ++v) {
    const WorkloadView& view = views_[v];
    const WorkloadAdvice* const last = earlier.Find(*view.id);
    WorkloadAdvice advice;
    advice.id = *view.id;
    advice.replicas = view.replicas;
    advice.last_sample_ms = view.last_sample_ms;
    advice.containers_in_pod = static_cast<uint32_t>(view.containers_in_pod);
    advice.containers_known = static_cast<uint32_t>(view.containers.size());
    advice.containers.reserve(view.containers.size());
    const bool same_pod = last != nullptr && last->containers_in_pod == advice.containers_in_pod &&
                          last->containers_known == advice.containers_known;
    for (size_t c = 0; c < view.containers.size(); ++c) {
      const ContainerView& container = view.containers[c];
      const ContainerAdvice* const said = FindContainer(last, container.name);
      ContainerAdvice shown;
      shown.container = std::string(container.name);
      shown.profile = history_.ProfileOf(container.container);
      for (const Resource resource : history_.profiles()->resources().all()) {
        if (!HasAnything(container, resource)) continue;
        const ResourceAdvice* const old = FindResource(said, resource);
        const bool stands =
            old != nullptr && same_pod && !changes[v][c] && old->kills == 0 &&
            old->original_request == container.original_request.Get(resource);
        shown.resources.push_back(stands ? *old : AdviseOne(v, container, resource));
        SetPresent(container, view, shown.resources.back());
      }
      if (!shown.resources.empty()) advice.containers.push_back(std::move(shown));
    }
    if (!advice.containers.empty()) all.push_back(std::move(advice));
  }
  return all;
}

void Advisor::ExplainResource(size_t view, const ContainerView& container, Resource resource,
                              ResourceExplanation& out) {
  Inputs gathered;
  Gather(view, container, resource, gathered);
  out.advice.resource = resource;
  WorkOutRequest(gathered.inputs, out.advice, &out.steps);
  SetMarks(gathered.inputs.high_water, *gathered.inputs.profile, out.advice);
  out.high_water = gathered.inputs.high_water.Explain();
  SetPresent(container, views_[view], out.advice);
  if (gathered.inputs.usage != nullptr) out.histogram = Explained(*gathered.inputs.usage);
  const KillLog* const kills = history_.KillsOf(container.container);
  const Profile& profile = *history_.ProfileOf(container.container);
  if (resource != Resource::kMemory || kills == nullptr || profile.strict) return;
  const int64_t hold_ms = profile.rule(Resource::kMemory).kills.hold_ms;
  for (const KillRecord& kill : kills->kills()) {
    if (kill.time_ms <= event_time_ms_ - hold_ms) break;  // so are all after it
    out.kills.push_back({kill.time_ms, kill.request, kill.needed, kill.time_ms + hold_ms});
  }
}

WorkloadExplanation Advisor::Explain(size_t view) {
  const WorkloadView& workload = views_[view];
  WorkloadExplanation explanation;
  explanation.id = *workload.id;
  explanation.event_time_ms = event_time_ms_;
  explanation.replicas = workload.replicas;
  for (const ContainerView& container : workload.containers) {
    ContainerExplanation& shown = explanation.containers.emplace_back();
    shown.container = std::string(container.name);
    shown.profile = *history_.ProfileOf(container.container);
    for (const auto& judged :
         history_.profiles()->Explain({*workload.id, container.name, workload.pod_labels})) {
      if (!judged.matches) shown.profiles_before.emplace_back(judged.profile->name, judged.why);
    }
    for (const Resource resource : history_.profiles()->resources().all()) {
      if (!HasAnything(container, resource)) continue;
      ExplainResource(view, container, resource, shown.resources.emplace_back());
    }
  }
  return explanation;
}

}  // namespace tidemark::engine
