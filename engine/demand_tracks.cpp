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

/// The rule, with the steps of the place that there is.
ForecastRule DemandTracks::RuleInForce(const Entry& entry) {
  ForecastRule rule = entry.rule;
  rule.steps = entry.place;
  return rule;
}

/// The best place there is, of no finer steps than `most`. It is decided when minutes come, not
/// from the journal: near the ceiling another workload may have it after a replay.
void DemandTracks::SetPlace(Entry& entry, DemandSteps most) {
  GivePlaceBack(entry);
  entry.squeezed = false;
  if (places_ == nullptr) {
    entry.place = entry.rule.steps;
    return;
  }
  for (const DemandSteps steps : {DemandSteps::kMinutes, DemandSteps::kFiveMinutes}) {
    if (steps > entry.rule.steps || steps > most) continue;
    if (!places_->TryTake(steps, settings_->max_workloads)) continue;
    entry.place = steps;
    break;
  }
  entry.squeezed = entry.place != entry.rule.steps;
}

void DemandTracks::GivePlaceBack(Entry& entry) {
  const DemandSteps place = std::exchange(entry.place, DemandSteps::kNone);
  if (places_ != nullptr && place != DemandSteps::kNone) places_->GiveBack(place);
}

/// Another place, and the track as that has it.
void DemandTracks::Seat(Entry& entry, DemandSteps most) {
  SetPlace(entry, most);
  entry.changed = true;
  if (!entry.track) return;
  if (entry.place == DemandSteps::kNone) {
    entry.track.reset();
  } else {
    entry.track->Adapt(RuleInForce(entry), *settings_);
  }
}

void DemandTracks::WorkloadIs(uint32_t container, const WorkloadId& workload) {
  Entry& entry = At(container);
  entry.rule = settings_->RuleOf(workload);
  if (keeps_ == Keeps::kHistory) {
    entry.rule.models.clear();
    entry.rule.always.reset();
  }
  entry.changed = true;
  if (!entry.track) {  // without a minute nothing is kept, and no place is needed
    GivePlaceBack(entry);
    entry.squeezed = false;
    return;
  }
  const bool stays =
      entry.place == entry.rule.steps &&
      (places_ == nullptr || !places_->AreTooMany(entry.place, settings_->max_workloads));
  if (stays) {
    entry.track->Adapt(RuleInForce(entry), *settings_);
  } else {
    Seat(entry, DemandSteps::kMinutes);
  }
}

/// Null: nothing is kept of it. One that had to do with less gets more as soon as there is some.
ForecastTrack* DemandTracks::TrackAt(Entry& entry) {
  if (entry.rule.steps == DemandSteps::kNone) return nullptr;
  const bool may_rise = places_ != nullptr && entry.place < entry.rule.steps &&
                        places_->IsAnyLeft(entry.rule.steps, settings_->max_workloads);
  if (entry.track && may_rise) Seat(entry, DemandSteps::kMinutes);
  if (!entry.track) {
    SetPlace(entry, DemandSteps::kMinutes);
    if (entry.place == DemandSteps::kNone) return nullptr;
    entry.track.emplace(RuleInForce(entry), *settings_);
  }
  return entry.track ? &*entry.track : nullptr;
}

bool DemandTracks::Add(uint32_t container, Resource resource,
                       const workloads::DemandMinute& minute) {
  Entry& entry = At(container);
  if (resource != entry.rule.resource) return false;
  if (ForecastTrack* const track = TrackAt(entry)) {
    track->Add(minute.start_ms / workloads::kMinuteMs, minute.demand);
    entry.changed = true;
  }
  return true;
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
  out.Byte(static_cast<uint8_t>(track.steps()));
  out.Text(names.NameOf(track.resource()));
  track.Save(out);
}

Result<ForecastTrack> DemandTracks::Read(uint32_t container, const ResourceTable& names,
                                         ByteReader& in) const {
  const Entry* const entry = Find(container);
  ForecastRule rule = entry == nullptr ? ForecastRule{} : entry->rule;
  const uint8_t steps = in.Byte();
  if (steps > static_cast<uint8_t>(DemandSteps::kMinutes)) in.Fail();
  // What its place will be is not known yet: as it was.
  if (!in.failed()) rule.steps = static_cast<DemandSteps>(steps);
  const auto resource = names.Parse(in.Text());
  return ForecastTrack::Restore(in, rule, *settings_, resource);
}

void DemandTracks::RestoreTrack(uint32_t container, ForecastTrack track) {
  Entry& entry = At(container);
  // Places that others had are not taken from them: all come back as they were first.
  const DemandSteps had = track.steps();
  entry.track = std::move(track);
  Seat(entry, had);
}

void DemandTracks::MergeTrack(uint32_t container, ForecastTrack track) {
  Entry& entry = At(container);
  ForecastTrack* const kept = TrackAt(entry);
  if (kept == nullptr) return;
  track.Adapt(RuleInForce(entry), *settings_);
  kept->Merge(track);
  entry.changed = true;
}

}  // namespace tidemark::engine
