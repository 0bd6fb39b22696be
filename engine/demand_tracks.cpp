#include "engine/demand_tracks.h"

#include <utility>

namespace tidemark::engine {

using forecast::ForecastTrack;

DemandTracks::DemandTracks(ForecastSettingsPtr settings, DemandPlaces* places, Keeps keeps)
    : settings_(std::move(settings)), places_(places), keeps_(keeps) {}

DemandTracks::~DemandTracks() {
  for (const auto& entry : entries_) {
    if (entry) GivePlaceBack(*entry);
  }
}

void DemandTracks::SetSettings(ForecastSettingsPtr settings) { settings_ = std::move(settings); }

std::optional<workloads::DemandWish> DemandTracks::WishOf(const WorkloadId& workload) const {
  const ForecastRule rule = settings_->RuleOf(workload);
  if (rule.steps == DemandSteps::kNone) return std::nullopt;
  return workloads::DemandWish{rule.resource, rule.startup_ms};
}

DemandTracks::Entry* DemandTracks::Find(uint32_t container) const {
  return container < entries_.size() ? entries_[container].get() : nullptr;
}

DemandTracks::Entry& DemandTracks::At(uint32_t container) {
  if (container >= entries_.size()) entries_.resize(container + 1);
  auto& entry = entries_[container];
  if (!entry) entry = std::make_unique<Entry>();
  return *entry;
}

/// A place is decided when minutes come, not from the journal: near the ceiling another workload
/// may have it after a replay. `had`: the steps that a restored one has, which it keeps.
void DemandTracks::TakePlace(Entry& entry, DemandSteps had) {
  entry.squeezed = false;
  if (places_ == nullptr || entry.place == entry.rule.steps) return;
  GivePlaceBack(entry);
  for (const DemandSteps steps : {DemandSteps::kMinutes, DemandSteps::kFiveMinutes}) {
    if (steps == DemandSteps::kMinutes && entry.rule.steps != steps) continue;
    if (had == steps) {
      places_->Take(steps);
    } else if (!places_->TryTake(steps, settings_->max_workloads)) {
      continue;
    }
    entry.place = steps;
    break;
  }
  entry.squeezed = entry.place != entry.rule.steps;
  entry.rule.steps = entry.place;
}

void DemandTracks::GivePlaceBack(Entry& entry) {
  const DemandSteps place = std::exchange(entry.place, DemandSteps::kNone);
  if (place != DemandSteps::kNone) places_->GiveBack(place);
}

void DemandTracks::WorkloadIs(uint32_t container, const WorkloadId& workload) {
  Entry& entry = At(container);
  entry.rule = settings_->RuleOf(workload);
  if (keeps_ == Keeps::kHistory) {
    entry.rule.models.clear();
    entry.rule.always.reset();
  }
  entry.changed = true;
  entry.squeezed = false;
  if (entry.rule.steps == DemandSteps::kNone) {
    entry.track.reset();
    GivePlaceBack(entry);
    return;
  }
  // Without a minute nothing is kept, and no place is needed.
  if (!entry.track) return;
  TakePlace(entry, DemandSteps::kNone);
  if (entry.rule.steps == DemandSteps::kNone) {
    entry.track.reset();
  } else {
    entry.track->Adapt(entry.rule, *settings_);
  }
}

/// Null: nothing is kept of it.
ForecastTrack* DemandTracks::TrackAt(Entry& entry) {
  if (entry.rule.steps == DemandSteps::kNone) return nullptr;
  if (!entry.track) {
    TakePlace(entry, DemandSteps::kNone);
    if (entry.rule.steps == DemandSteps::kNone) return nullptr;
    entry.track.emplace(entry.rule, *settings_);
  }
  return &*entry.track;
}

void DemandTracks::Add(uint32_t container, Resource resource,
                       const workloads::DemandMinute& minute) {
  Entry& entry = At(container);
  if (resource != entry.rule.resource) return;
  ForecastTrack* const track = TrackAt(entry);
  if (track == nullptr) return;
  track->Add(minute.start_ms / workloads::kMinuteMs, minute.demand);
  entry.changed = true;
}

Result<void> DemandTracks::Activate(uint32_t container, const forecast::FittedModel& fitted) {
  Entry* const entry = Find(container);
  if (entry == nullptr || !entry->track) {
    return Fail(ErrorCode::kNotFound, "a trained model is of a workload whose demand is not kept");
  }
  entry->changed = true;
  return entry->track->Activate(fitted);
}

void DemandTracks::Merge(uint32_t from, uint32_t into) {
  Entry* const gone = Find(from);
  if (gone == nullptr || !gone->track || from == into) return;
  ForecastTrack track = std::move(*gone->track);
  gone->track.reset();
  GivePlaceBack(*gone);
  MergeTrack(into, std::move(track));
}

void DemandTracks::Remove(uint32_t container) {
  Entry* const entry = Find(container);
  if (entry == nullptr) return;
  GivePlaceBack(*entry);
  entries_[container].reset();
}

const ForecastTrack* DemandTracks::TrackOf(uint32_t container) const {
  const Entry* const entry = Find(container);
  return entry != nullptr && entry->track ? &*entry->track : nullptr;
}

bool DemandTracks::IsSqueezed(uint32_t container) const {
  const Entry* const entry = Find(container);
  return entry != nullptr && entry->squeezed;
}

bool DemandTracks::TakeChanged(uint32_t container) {
  Entry* const entry = Find(container);
  return entry != nullptr && std::exchange(entry->changed, false);
}

void DemandTracks::Save(uint32_t container, const ResourceTable& names, ByteWriter& out) const {
  const ForecastTrack& track = *TrackOf(container);
  out.Text(names.NameOf(track.resource()));
  track.Save(out);
}

Result<ForecastTrack> DemandTracks::Read(uint32_t container, const ResourceTable& names,
                                         ByteReader& in) const {
  const Entry* const entry = Find(container);
  const ForecastRule rule = entry == nullptr ? ForecastRule{} : entry->rule;
  const auto resource = names.Parse(in.Text());
  return ForecastTrack::Restore(in, rule, *settings_, resource);
}

void DemandTracks::RestoreTrack(uint32_t container, ForecastTrack track) {
  Entry& entry = At(container);
  if (entry.rule.steps == DemandSteps::kNone) return;
  TakePlace(entry, track.steps());
  if (entry.rule.steps == DemandSteps::kNone) return;
  track.Adapt(entry.rule, *settings_);
  entry.track = std::move(track);
}

void DemandTracks::MergeTrack(uint32_t container, ForecastTrack track) {
  Entry& entry = At(container);
  ForecastTrack* const kept = TrackAt(entry);
  if (kept == nullptr) return;
  track.Adapt(entry.rule, *settings_);
  kept->Merge(track);
  entry.changed = true;
}

}  // namespace tidemark::engine
