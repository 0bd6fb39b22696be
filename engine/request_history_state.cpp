// The usage history of one container as bytes: which resources have one, then each.
#include <utility>

#include "engine/request_history.h"
#include "estimators/event_time.h"

namespace tidemark::engine {
namespace {

constexpr uint8_t kAllPresent = (1U << kResourceCount) - 1;

/// Set beside them since histograms and windows are in their second format.
constexpr uint8_t kSecondFormat = 0x80;
static_assert(estimators::DecayingHistogram::kSavedFormat == 2);
static_assert(estimators::MemoryPeakWindow::kSavedFormat == 2);

struct Head {
  uint8_t present = 0;
  int format = 1;
};

/// A bit for each resource of which there is something.
template <class Slots>
uint8_t Present(const Slots& slots) {
  uint8_t bits = 0;
  for (size_t i = 0; i < kResourceCount; ++i) {
    if (slots[i]) bits |= static_cast<uint8_t>(1U << i);
  }
  return bits;
}

/// Reads what Present made, with or without kSecondFormat; kInvalidArgument when it is cut or names
/// resources that there are none of.
Result<Head> ReadPresent(ByteReader& in) {
  const uint8_t bits = in.Byte();
  const auto present = static_cast<uint8_t>(bits & ~kSecondFormat);
  if (!in.failed() && present <= kAllPresent) return Head{present, present == bits ? 1 : 2};
  return Fail(ErrorCode::kInvalidArgument,
              "saved history: it is cut or names a resource that is not known");
}

}  // namespace

void RequestHistory::SaveContainer(uint32_t container, ByteWriter& out) const {
  if (container >= containers_.size() || !containers_[container]) {
    out.Byte(0);
    return;
  }
  const Histories& histories = *containers_[container];
  out.Byte(Present(histories) | kSecondFormat);
  for (const auto& history : histories) {
    if (!history) continue;
    history->histogram.Save(out);
    history->minutes.Save(out);
  }
}

void RequestHistory::SaveInstance(uint32_t instance, ByteWriter& out) const {
  if (instance >= instances_.size() || !instances_[instance]) {
    out.Byte(0);
    return;
  }
  const Windows& windows = *instances_[instance];
  out.Byte(Present(windows) | kSecondFormat);
  for (const auto& window : windows) {
    if (window) window->Save(out);
  }
}

Result<RequestHistory::Histories> RequestHistory::ReadHistories(ByteReader& in) const {
  const auto head = ReadPresent(in);
  if (!head) return tl::unexpected(head.error());
  Histories histories;
  for (const Resource resource : kAllResources) {
    const auto slot = static_cast<size_t>(resource);
    if ((head->present >> slot & 1) == 0) continue;
    auto histogram = estimators::DecayingHistogram::Restore(&LayoutOf(resource), in, head->format);
    if (!histogram) return tl::unexpected(std::move(histogram.error()));
    auto minutes = estimators::SampleSpan::Restore(in);
    if (!minutes) return tl::unexpected(std::move(minutes.error()));
    const estimators::Time newest =
        minutes->Last().value_or(histogram->ReferenceTime().value_or(estimators::Time{}));
    if (auto changed = histogram->ChangeHalfLife(HalfLifeOf(resource), newest); !changed) {
      return tl::unexpected(std::move(changed.error()));
    }
    histories[slot] = std::make_unique<History>(History{std::move(*histogram), *minutes});
  }
  return histories;
}

Result<void> RequestHistory::RestoreContainer(uint32_t container, ByteReader& in) {
  auto histories = ReadHistories(in);
  if (!histories) return tl::unexpected(std::move(histories.error()));
  if (Present(*histories) == 0) return {};
  if (container >= containers_.size()) containers_.resize(container + 1);
  containers_[container] = std::make_unique<Histories>(std::move(*histories));
  return {};
}

Result<void> RequestHistory::RestoreInstance(uint32_t instance, ByteReader& in) {
  const auto head = ReadPresent(in);
  if (!head) return tl::unexpected(head.error());
  if (head->present == 0) return {};
  auto windows = std::make_unique<Windows>();
  for (size_t i = 0; i < kResourceCount; ++i) {
    if ((head->present >> i & 1) == 0) continue;
    auto window = estimators::MemoryPeakWindow::Restore(in, head->format);
    if (!window) return tl::unexpected(std::move(window.error()));
    (*windows)[i] = std::make_unique<estimators::MemoryPeakWindow>(*window);
  }
  if (instance >= instances_.size()) instances_.resize(instance + 1);
  instances_[instance] = std::move(windows);
  return {};
}

Result<void> RequestHistory::MergeSaved(uint32_t container, ByteReader& in) {
  auto added = ReadHistories(in);
  if (!added) return tl::unexpected(std::move(added.error()));
  if (Present(*added) == 0) return {};
  if (container >= containers_.size()) containers_.resize(container + 1);
  if (!containers_[container]) containers_[container] = std::make_unique<Histories>();
  Histories& kept = *containers_[container];
  // Layout and half-life are equal: only weights too large can keep two histograms apart. All are
  // looked at before the first is merged.
  for (size_t i = 0; i < kResourceCount; ++i) {
    if (!kept[i] || !(*added)[i]) continue;
    const double total = kept[i]->histogram.TotalWeight() + (*added)[i]->histogram.TotalWeight();
    if (!(total <= estimators::DecayingHistogram::kMaxTotalWeight)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "saved history: its weights are too large to be added to those that are there");
    }
  }
  for (size_t i = 0; i < kResourceCount; ++i) {
    auto& history = (*added)[i];
    if (!history) continue;
    if (!kept[i]) {
      kept[i] = std::move(history);
      continue;
    }
    if (auto merged = kept[i]->histogram.Merge(history->histogram); !merged) return merged;
    kept[i]->minutes.Merge(history->minutes);
  }
  return {};
}

}  // namespace tidemark::engine
