// The usage history of one container as bytes: which resources have one, then each; then its kills,
// signs, demand and decisions on replicas.
//
// The first byte of the first format said which resources there are and is below 16; those of the
// others are marks. The second had a byte of flags and resources, the present one has a byte of
// flags, then a bit for each resource, with room for 16; one that the configuration names has its
// name before it, since its slot may be another's by then.
#include <set>
#include <string>
#include <utility>

#include "engine/request_history.h"
#include "estimators/time_codec.h"
#include "model/log.h"

namespace tidemark::engine {
namespace {

constexpr uint8_t kSecondFormatMark = 0x52;
constexpr uint8_t kFormatMark = 0x53;
// Flags of a container.
constexpr uint8_t kHasKills = 0x01;
constexpr uint8_t kHasSigns = 0x02;
constexpr uint8_t kHasDemand = 0x04;
constexpr uint8_t kHasScaling = 0x08;
constexpr uint8_t kContainerFlags = kHasKills | kHasSigns | kHasDemand | kHasScaling;
// Flags of a pod's container.
constexpr uint8_t kHasSample = 0x01;
constexpr uint8_t kHasLabels = 0x02;
constexpr uint8_t kInstanceFlags = kHasSample | kHasLabels;

constexpr int kFirstFormat = 1;
constexpr int kFormat = 2;               // of histograms and windows
constexpr unsigned kFirstResources = 4;  // of the first and second format
constexpr unsigned kResources = 16;

/// A bit for each resource of which there is something.
template <class Slots>
uint64_t Present(const Slots& slots) {
  uint64_t bits = 0;
  slots.ForEach([&](Resource resource, const auto& slot) {
    if (slot) bits |= uint64_t{1} << static_cast<unsigned>(resource);
  });
  return bits;
}

template <class Slots>
void SaveSlots(const Slots& slots, const ResourceTable& names, ByteWriter& out) {
  slots.ForEach([&](Resource resource, const auto& slot) {
    if (!slot) return;
    if (IsCustom(resource)) out.Text(names.NameOf(resource));
    slot->Save(out);
  });
}

struct Head {
  int format = kFormat;
  uint8_t flags = 0;
  uint64_t resources = 0;
};

/// Reads what comes first; kInvalidArgument when it is cut or names what is not known. `allowed`:
/// flags of the present format; in the second they stood above the resources.
Result<Head> ReadHead(ByteReader& in, uint8_t allowed) {
  Head head;
  const uint8_t first = in.Byte();
  unsigned resources = kFirstResources;
  if (first == kFormatMark) {
    head.flags = in.Byte();
    head.resources = in.Varint();
    resources = kResources;
  } else if (first == kSecondFormatMark) {
    const uint8_t bits = in.Byte();
    head.flags = bits >> kFirstResources;
    head.resources = bits & ((1U << kFirstResources) - 1);
  } else {
    head.format = kFirstFormat;
    head.resources = first;
  }
  const bool good = (head.flags & ~allowed) == 0 && head.resources >> resources == 0;
  if (!in.failed() && good) return head;
  return Fail(ErrorCode::kInvalidArgument,
              "saved history: it is cut or names a resource that is not known");
}

/// The slot that follows in the bytes: read(Resource, bool kept) for each resource of `head`, in
/// order. What has no name any more is read all the same, as if it were of the first slot that the
/// configuration may name, and is not to be kept.
template <class Read>
Result<void> ReadSlots(const Head& head, const ResourceTable& names, ByteReader& in, Read read) {
  std::set<Resource> seen;
  for (unsigned saved = 0; saved < kResources; ++saved) {
    if ((head.resources >> saved & 1) == 0) continue;
    std::optional<Resource> resource = static_cast<Resource>(saved);
    if (saved >= kBuiltInResourceCount) {
      const std::string_view name = in.Text();
      resource = names.Parse(name);
      if (resource && !IsCustom(*resource)) resource.reset();
      if (in.failed() || (resource && !seen.insert(*resource).second)) {
        return Fail(ErrorCode::kInvalidArgument, "saved history: the name of a resource is wrong");
      }
      if (!resource) {
        LogOncePerMinute("resource_gone", LogLevel::kWarn,
                         "what was kept of a resource that no source names any more is dropped",
                         {{"resource", std::string(name)}});
      }
    }
    if (auto good = read(resource.value_or(Resource::kFirstCustom), resource.has_value()); !good) {
      return good;
    }
  }
  return {};
}

}  // namespace

void RequestHistory::SaveContainer(uint32_t container, ByteWriter& out) const {
  const Container* const found =
      container < containers_.size() ? containers_[container].get() : nullptr;
  const uint64_t resources = found == nullptr ? 0 : Present(found->tracks);
  uint8_t flags = 0;
  if (found != nullptr && found->kills) flags |= kHasKills;
  if (found != nullptr && found->signs) flags |= kHasSigns;
  if (demand_.Has(container)) flags |= kHasDemand;
  if (scaling_.Has(container)) flags |= kHasScaling;
  if (resources == 0 && flags == 0) {  // nothing is written as the first format wrote it
    out.Byte(0);
    return;
  }
  out.Byte(kFormatMark);
  out.Byte(flags);
  out.Varint(resources);
  if (resources != 0) SaveSlots(found->tracks, profiles_->resources(), out);
  if ((flags & kHasKills) != 0) found->kills->Save(out);
  if ((flags & kHasSigns) != 0) found->signs->Save(out);
  if ((flags & kHasDemand) != 0) demand_.Save(container, profiles_->resources(), out);
  if ((flags & kHasScaling) != 0) scaling_.Save(container, profiles_->resources(), out);
}

void RequestHistory::SaveInstance(uint32_t instance, ByteWriter& out) const {
  const Instance* const found = instance < instances_.size() ? instances_[instance].get() : nullptr;
  uint64_t resources = 0;
  uint8_t flags = 0;
  if (found != nullptr) {
    resources = Present(found->windows);
    if (found->has_sample) flags |= kHasSample;
    if (found->labels != 0) flags |= kHasLabels;
  }
  if (resources == 0 && flags == 0) {
    out.Byte(0);
    return;
  }
  const Instance& known = *found;
  out.Byte(kFormatMark);
  out.Byte(flags);
  out.Varint(resources);
  SaveSlots(known.windows, profiles_->resources(), out);
  if (known.has_sample) estimators::SaveTime(out, known.last_sample);
  if (known.labels != 0) out.Fixed64(known.labels);
}

/// `container`: by whose rules it is read.
Result<RequestHistory::Container> RequestHistory::ReadContainer(ByteReader& in,
                                                                uint32_t container) {
  const Profile& profile = *ProfileOf(container);
  const bool is_job = IsJob(container);
  const auto head = ReadHead(in, kContainerFlags);
  if (!head) return tl::unexpected(head.error());
  Container read;
  read.profile = &profile;
  read.is_job = is_job;
  auto tracks = ReadSlots(
      *head, profiles_->resources(), in, [&](Resource resource, bool kept) -> Result<void> {
        auto track = head->format == kFirstFormat
                         ? UsageTrack::RestoreFirstFormat(in, resource, layouts_)
                         : UsageTrack::Restore(in, layouts_);
        if (!track) return tl::unexpected(std::move(track.error()));
        if (!kept) return {};
        track->Adapt(profile, resource, SamplingKind::Of(profile, resource, is_job), layouts_);
        read.tracks.At(resource) = std::make_unique<UsageTrack>(std::move(*track));
        return {};
      });
  if (!tracks) return tl::unexpected(std::move(tracks.error()));
  if ((head->flags & kHasKills) != 0) {
    auto kills = KillLog::Restore(in);
    if (!kills) return tl::unexpected(std::move(kills.error()));
    read.kills = std::make_unique<KillLog>(std::move(*kills));
  }
  if ((head->flags & kHasSigns) != 0) {
    auto signs = UsageSigns::Restore(in);
    if (!signs) return tl::unexpected(std::move(signs.error()));
    read.signs = std::make_unique<UsageSigns>(*signs);
  }
  if ((head->flags & kHasDemand) != 0) {
    auto track = demand_.Read(container, profiles_->resources(), in);
    if (!track) return tl::unexpected(std::move(track.error()));
    read.demand = std::move(*track);
  }
  if ((head->flags & kHasScaling) != 0) {
    auto kept = scaling_.Read(container, profiles_->resources(), in);
    if (!kept) return tl::unexpected(std::move(kept.error()));
    read.scaling = std::move(*kept);
  }
  return read;
}

Result<void> RequestHistory::RestoreContainer(uint32_t container, ByteReader& in) {
  auto read = ReadContainer(in, container);
  if (!read) return tl::unexpected(std::move(read.error()));
  if (read->demand) demand_.RestoreTrack(container, std::move(*read->demand));
  read->demand.reset();
  if (read->scaling) scaling_.Restore(container, std::move(*read->scaling));
  read->scaling.reset();
  if (Present(read->tracks) == 0 && !read->kills && !read->signs) return {};
  At(container) = std::move(*read);
  return {};
}

Result<void> RequestHistory::RestoreInstance(uint32_t instance, ByteReader& in) {
  const auto head = ReadHead(in, kInstanceFlags);
  if (!head) return tl::unexpected(head.error());
  if (head->resources == 0 && head->flags == 0) return {};
  auto read = std::make_unique<Instance>();
  auto windows = ReadSlots(
      *head, profiles_->resources(), in, [&](Resource resource, bool kept) -> Result<void> {
        auto window = estimators::MemoryPeakWindow::Restore(in, head->format);
        if (!window) return tl::unexpected(std::move(window.error()));
        if (!kept) return {};
        read->windows.At(resource) = std::make_unique<estimators::MemoryPeakWindow>(*window);
        return {};
      });
  if (!windows) return windows;
  if ((head->flags & kHasSample) != 0) {
    read->has_sample = true;
    read->last_sample = estimators::RestoreTime(in);
  }
  if ((head->flags & kHasLabels) != 0) read->labels = in.Fixed64();
  if (in.failed()) {
    return Fail(ErrorCode::kInvalidArgument, "saved history of a pod's container: it is cut");
  }
  if (instance >= instances_.size()) instances_.resize(instance + 1);
  instances_[instance] = std::move(read);
  return {};
}

Result<void> RequestHistory::MergeSaved(uint32_t container, ByteReader& in) {
  auto added = ReadContainer(in, container);
  if (!added) return tl::unexpected(std::move(added.error()));
  Container& kept = At(container);
  // Merging stops at the first pair that cannot be added up: all are looked at before.
  Result<void> good;
  kept.tracks.ForEach([&](Resource resource, const auto& track) {
    const auto& other = added->tracks.Get(resource);
    if (good && track && other) good = track->CanMerge(*other);
  });
  if (!good) return good;
  if (added->demand) demand_.MergeTrack(container, std::move(*added->demand));
  // What was decided in a past is of no use after it.
  return MergeTracks(*added, kept);
}

}  // namespace tidemark::engine
