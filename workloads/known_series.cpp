#include "workloads/known_series.h"

#include <utility>

namespace tidemark::workloads {
namespace {

constexpr size_t kFirstSlots = 1024;  // a power of two
// Values of Slot::place that are no place.
constexpr uint64_t kFree = 0;
constexpr uint64_t kErased = 1;

}  // namespace

SeriesPlace KnownSeries::View::Find(const SeriesHash& hash) const {
  const Table& table = *table_;
  for (size_t at = hash.low & table.mask;; at = (at + 1) & table.mask) {
    const Slot& slot = table.slots[at];
    const uint64_t place = slot.place.load(std::memory_order_acquire);
    if (place == kFree) return {};
    // The hash of a slot in use never changes, so that there is nothing torn to be read.
    if (place != kErased && slot.low.load(std::memory_order_relaxed) == hash.low) {
      return SeriesPlace(place);
    }
  }
}

KnownSeries::KnownSeries() : table_(std::make_shared<Table>(kFirstSlots)) {}
KnownSeries::~KnownSeries() = default;

KnownSeries::View KnownSeries::Look() const {
  const std::scoped_lock lock(publish_mutex_);
  return View(table_);
}

KnownSeries::Slot* KnownSeries::FindSlot(const SeriesHash& hash) const {
  Table& table = *table_;
  for (size_t at = hash.low & table.mask;; at = (at + 1) & table.mask) {
    Slot& slot = table.slots[at];
    const uint64_t place = slot.place.load(std::memory_order_relaxed);
    if (place == kFree) return nullptr;
    if (place != kErased && slot.low.load(std::memory_order_relaxed) == hash.low) return &slot;
  }
}

/// Into a free slot: erased ones are left to Rebuild, so that a reader never meets a slot whose
/// hash changes.
void KnownSeries::Put(Table& table, uint64_t low, uint64_t place) {
  size_t at = low & table.mask;
  while (table.slots[at].place.load(std::memory_order_relaxed) != kFree) at = (at + 1) & table.mask;
  Slot& slot = table.slots[at];
  slot.low.store(low, std::memory_order_relaxed);
  slot.place.store(place, std::memory_order_release);
}

void KnownSeries::Insert(const SeriesHash& hash, SeriesPlace place) {
  if (!place) return;
  const std::scoped_lock lock(write_mutex_);
  if (Slot* const slot = FindSlot(hash)) {
    slot->place.store(place.bits(), std::memory_order_release);
    return;
  }
  if ((used_ + 1) * 4 > table_->slots.size() * 3) Rebuild();
  Put(*table_, hash.low, place.bits());
  ++used_;
  ++live_;
}

void KnownSeries::Erase(const SeriesHash& hash) {
  const std::scoped_lock lock(write_mutex_);
  Slot* const slot = FindSlot(hash);
  if (slot == nullptr) return;
  slot->place.store(kErased, std::memory_order_release);
  --live_;
  // When most are gone the memory goes too.
  if (table_->slots.size() > kFirstSlots && live_ * 8 < table_->slots.size()) Rebuild();
}

/// A table fit for what lives, without what was erased. Requests under way go on with the old one.
void KnownSeries::Rebuild() {
  size_t slots = kFirstSlots;
  while ((live_ + 1) * 2 > slots) slots *= 2;
  auto table = std::make_shared<Table>(slots);
  for (const Slot& slot : table_->slots) {
    const uint64_t place = slot.place.load(std::memory_order_relaxed);
    if (place == kFree || place == kErased) continue;
    Put(*table, slot.low.load(std::memory_order_relaxed), place);
  }
  used_ = live_;
  const std::scoped_lock lock(publish_mutex_);
  table_ = std::move(table);
}

size_t KnownSeries::size() const {
  const std::scoped_lock lock(write_mutex_);
  return live_;
}

}  // namespace tidemark::workloads
