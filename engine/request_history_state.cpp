// The usage history of one container as bytes: which resources have one, then each; then its kills.
//
// The first byte of the first format said which resources there are and is below 16; that of the
// present one is kFormatMark.
#include <utility>

#include "engine/request_history.h"
#include "estimators/time_codec.h"

namespace tidemark::engine {
namespace {

constexpr uint8_t kAllPresent = (1U << kResourceCount) - 1;
constexpr uint8_t kFormatMark = 0x52;
constexpr uint8_t kHasKills = 0x10;
constexpr uint8_t kHasSigns = 0x20;
constexpr uint8_t kHasSample = 0x10;
constexpr uint8_t kHasLabels = 0x20;
constexpr int kFirstFormat = 1;
constexpr int kFormat = 2;

/// A bit for each resource of which there is something.
template <class Slots>
uint8_t Present(const Slots& slots) {
  uint8_t bits = 0;
  for (size_t i = 0; i < kResourceCount; ++i) {
    if (slots[i]) bits |= static_cast<uint8_t>(1U << i);
  }
  return bits;
}

struct Head {
  int format = kFormat;
  uint8_t bits = 0;

  bool Has(size_t slot) const { return (bits >> slot & 1) != 0; }
};

/// Reads what comes first; kInvalidArgument when it is cut or names what is not known. `allowed`:
/// further bits of the present format.
Result<Head> ReadHead(ByteReader& in, uint8_t allowed) {
  Head head;
  head.bits = in.Byte();
  if (head.bits == kFormatMark) {
    head.bits = in.Byte();
  } else {
    head.format = kFirstFormat;
    allowed = 0;
  }
  if (!in.failed() && (head.bits & ~(kAllPresent | allowed)) == 0) return head;
  return Fail(ErrorCode::kInvalidArgument,
              "saved history: it is cut or names a resource that is not known");
}

}  // namespace

void RequestHistory::SaveContainer(uint32_t container, ByteWriter& out) const {
  const Container* const found =
      container < containers_.size() ? containers_[container].get() : nullptr;
  const auto bits = static_cast<uint8_t>(found == nullptr ? 0
                                                          : Present(found->tracks) |
                                                                (found->kills ? kHasKills : 0) |
                                                                (found->signs ? kHasSigns : 0));
  if (bits == 0) {  // nothing is written as the first format wrote it
    out.Byte(0);
    return;
  }
  const Container& known = *found;
  out.Byte(kFormatMark);
  out.Byte(bits);
  for (const auto& track : known.tracks) {
    if (track) track->Save(out);
  }
  if (known.kills) known.kills->Save(out);
  if (known.signs) known.signs->Save(out);
}

void RequestHistory::SaveInstance(uint32_t instance, ByteWriter& out) const {
  const Instance* const found = instance < instances_.size() ? instances_[instance].get() : nullptr;
  uint8_t bits = 0;
  if (found != nullptr) {
    bits = Present(found->windows);
    if (found->has_sample) bits |= kHasSample;
    if (found->labels != 0) bits |= kHasLabels;
  }
  if (bits == 0) {
    out.Byte(0);
    return;
  }
  const Instance& known = *found;
  out.Byte(kFormatMark);
  out.Byte(bits);
  for (const auto& window : known.windows) {
    if (window) window->Save(out);
  }
  if (known.has_sample) estimators::SaveTime(out, known.last_sample);
  if (known.labels != 0) out.Fixed64(known.labels);
}

Result<RequestHistory::Container> RequestHistory::ReadContainer(ByteReader& in,
                                                                const Profile& profile,
                                                                bool is_job) {
  const auto head = ReadHead(in, kHasKills | kHasSigns);
  if (!head) return tl::unexpected(head.error());
  Container read;
  read.profile = &profile;
  read.is_job = is_job;
  for (const Resource resource : kAllResources) {
    const auto slot = static_cast<size_t>(resource);
    if (!head->Has(slot)) continue;
    auto track = head->format == kFirstFormat
                     ? UsageTrack::RestoreFirstFormat(in, resource, layouts_)
                     : UsageTrack::Restore(in, layouts_);
    if (!track) return tl::unexpected(std::move(track.error()));
    track->Adapt(profile, resource, SamplingKind::Of(profile, resource, is_job), layouts_);
    read.tracks[slot] = std::make_unique<UsageTrack>(std::move(*track));
  }
  if ((head->bits & kHasKills) != 0) {
    auto kills = KillLog::Restore(in);
    if (!kills) return tl::unexpected(std::move(kills.error()));
    read.kills = std::make_unique<KillLog>(std::move(*kills));
  }
  if ((head->bits & kHasSigns) != 0) {
    auto signs = UsageSigns::Restore(in);
    if (!signs) return tl::unexpected(std::move(signs.error()));
    read.signs = std::make_unique<UsageSigns>(*signs);
  }
  return read;
}

Result<void> RequestHistory::RestoreContainer(uint32_t container, ByteReader& in) {
  auto read = ReadContainer(in, *ProfileOf(container), IsJob(container));
  if (!read) return tl::unexpected(std::move(read.error()));
  if (Present(read->tracks) == 0 && !read->kills && !read->signs) return {};
  At(container) = std::move(*read);
  return {};
}

Result<void> RequestHistory::RestoreInstance(uint32_t instance, ByteReader& in) {
  const auto head = ReadHead(in, kHasSample | kHasLabels);
  if (!head) return tl::unexpected(head.error());
  if (head->bits == 0) return {};
  auto read = std::make_unique<Instance>();
  for (size_t i = 0; i < kResourceCount; ++i) {
    if (!head->Has(i)) continue;
    auto window = estimators::MemoryPeakWindow::Restore(in, head->format);
    if (!window) return tl::unexpected(std::move(window.error()));
    read->windows[i] = std::make_unique<estimators::MemoryPeakWindow>(*window);
  }
  if ((head->bits & kHasSample) != 0) {
    read->has_sample = true;
    read->last_sample = estimators::RestoreTime(in);
  }
  if ((head->bits & kHasLabels) != 0) read->labels = in.Fixed64();
  if (in.failed()) {
    return Fail(ErrorCode::kInvalidArgument, "saved history of a pod's container: it is cut");
  }
  if (instance >= instances_.size()) instances_.resize(instance + 1);
  instances_[instance] = std::move(read);
  return {};
}

Result<void> RequestHistory::MergeSaved(uint32_t container, ByteReader& in) {
  auto added = ReadContainer(in, *ProfileOf(container), IsJob(container));
  if (!added) return tl::unexpected(std::move(added.error()));
  Container& kept = At(container);
  // Merging stops at the first pair that cannot be added up: all are looked at before.
  for (size_t i = 0; i < kResourceCount; ++i) {
    if (!kept.tracks[i] || !added->tracks[i]) continue;
    if (auto good = kept.tracks[i]->CanMerge(*added->tracks[i]); !good) return good;
  }
  return MergeTracks(*added, kept);
}

}  // namespace tidemark::engine
