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
/// may have it after a replay.
void DemandTracks::TakePlace(Entry& entry, bool was_there) {
  entry.squeezed = false;
  if (places_ == nullptr) return;
  if (entry.rule.steps != DemandSteps::kMinutes) return GivePlaceBack(entry);
  if (entry.has_place) return;
  if (was_there) {
    places_->Take();
    entry.has_place = true;
  } else {
    entry.has_place = places_->TryTake(settings_->max_workloads);
  }
  if (entry.has_place) return;
  entry.rule.steps = DemandSteps::kFiveMinutes;
  entry.squeezed = true;
}

void DemandTracks::GivePlaceBack(Entry& entry) {
  if (std::exchange(entry.has_place, false)) places_->GiveBack();
}

void DemandTracks::WorkloadIs(uint32_t container, const WorkloadId& workload) {
  Entry& entry = At(container);
  entry.rule = settings_->RuleOf(workload);
  if (keeps_ == Keeps::kHistory) {
    entry.rule.models.clear();
    entry.rule.always.reset();
  }
  entry.changed = true;
  if (entry.rule.steps == DemandSteps::kNone) {
    entry.track.reset();
    GivePlaceBack(entry);
    return;
  }
  // Without a minute nothing is kept, and no place is needed.
  if (!entry.track) return;
  TakePlace(entry, false);
  entry.track->Adapt(entry.rule, *settings_);
}

ForecastTrack& DemandTracks::TrackAt(Entry& entry) {
  if (!entry.track) {
    TakePlace(entry, false);
    entry.track.emplace(entry.rule, *settings_);
  }
  return *entry.track;
}

void DemandTracks::Add(uint32_t container, Resource resource,
                       const workloads::DemandMinute& minute) {
  Entry& entry = At(container);
  if (entry.rule.steps == DemandSteps::kNone || resource != entry.rule.resource) return;
  TrackAt(entry).Add(minute.start_ms / workloads::kMinuteMs, minute.demand);
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

void DemandTracks::Save(uint32_t container, ByteWriter& out) const {
  TrackOf(container)->Save(out);
}

Result<ForecastTrack> DemandTracks::Read(uint32_t container, ByteReader& in) const {
  const Entry* const entry = Find(container);
  return ForecastTrack::Restore(in, entry == nullptr ? ForecastRule{} : entry->rule, *settings_);
}

void DemandTracks::RestoreTrack(uint32_t container, ForecastTrack track) {
  Entry& entry = At(container);
  if (entry.rule.steps == DemandSteps::kNone) return;
  TakePlace(entry, track.steps() == DemandSteps::kMinutes);
  entry.track = std::move(track);
}

void DemandTracks::MergeTrack(uint32_t container, ForecastTrack track) {
  Entry& entry = At(container);
  if (entry.rule.steps == DemandSteps::kNone) return;
  track.Adapt(entry.rule, *settings_);
  TrackAt(entry).Merge(track);
  entry.changed = true;
}

}  // namespace tidemark::engine
