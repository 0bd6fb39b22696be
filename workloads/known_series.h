#pragma once
// Where known series live, for the threads that read requests: label bytes that have passed every
// check once need neither be walked, checked nor looked up by name again.
//
// An open-addressing table from a series' hash to its place. Readers take no lock: they look into
// whatever table was published when their request began. Writers (the shards, when series come and
// go) are serialised. What a reader finds is a hint: the shard compares the whole hash at the place
// it names and, where it does not fit any more, looks the series up as if nothing had been found.
// So half of the hash is enough here: bytes that nobody has checked would have to meet it by
// chance, which with 10 million series happens once in 10^12 series, and then they are still
// decoded before they are used. Memory: 16 bytes a slot, three quarters of them used at most: 22 to
// 43 bytes a series.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tidemark::workloads {

/// 128-bit hash of a series' canonical label bytes, seeded per process. Stands for the series.
struct SeriesHash {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const SeriesHash&, const SeriesHash&) = default;
};

/// Shard, namespace within the shard and series within the namespace, in one word. 0: none.
class SeriesPlace {
 public:
  static constexpr uint64_t kMaxShard = (1U << 11) - 1;
  static constexpr uint64_t kMaxNameSpace = (1U << 20) - 1;

  SeriesPlace() = default;
  explicit SeriesPlace(uint64_t bits) : bits_(bits) {}
  /// None when a number is too large to be kept.
  SeriesPlace(size_t shard, size_t name_space, uint32_t series)
      : bits_(shard > kMaxShard || name_space > kMaxNameSpace
                  ? 0
                  : kSet | shard << 52 | name_space << 32 | series) {}

  explicit operator bool() const { return bits_ != 0; }
  uint64_t bits() const { return bits_; }
  size_t shard() const { return bits_ >> 52 & kMaxShard; }
  size_t name_space() const { return bits_ >> 32 & kMaxNameSpace; }
  uint32_t series() const { return static_cast<uint32_t>(bits_); }
  friend bool operator==(const SeriesPlace&, const SeriesPlace&) = default;

 private:
  static constexpr uint64_t kSet = 1ULL << 63;
  uint64_t bits_ = 0;
};

class KnownSeries {
 private:
  struct Slot {
    std::atomic<uint64_t> low{0};
    std::atomic<uint64_t> place{0};
  };
  struct Table {
    explicit Table(size_t count) : slots(count), mask(count - 1) {}
    std::vector<Slot> slots;
    size_t mask;
  };

 public:
  /// What one request looks into. A copy of one pointer.
  class View {
   public:
    /// No place when the series is not known.
    SeriesPlace Find(const SeriesHash& hash) const;
    /// Has the memory fetched that Find will look into.
    void Prefetch(const SeriesHash& hash) const {
      __builtin_prefetch(&table_->slots[hash.low & table_->mask]);
    }

   private:
    friend class KnownSeries;
    explicit View(std::shared_ptr<const Table> table) : table_(std::move(table)) {}
    std::shared_ptr<const Table> table_;
  };

  KnownSeries();
  ~KnownSeries();
  KnownSeries(const KnownSeries&) = delete;
  KnownSeries& operator=(const KnownSeries&) = delete;

  // All thread-safe.
  View Look() const;
  /// Adds the series or moves it to `place`; without a place it does nothing.
  void Insert(const SeriesHash& hash, SeriesPlace place);
  void Erase(const SeriesHash& hash);
  size_t size() const;

 private:
  Slot* FindSlot(const SeriesHash& hash) const;
  static void Put(Table& table, uint64_t low, uint64_t place);
  void Rebuild();

  mutable std::mutex write_mutex_;  // guards what writers share
  size_t used_ = 0;                 // slots that are not free, erased ones among them
  size_t live_ = 0;
  mutable std::mutex publish_mutex_;  // guards the copy of table_
  std::shared_ptr<Table> table_;
};

}  // namespace tidemark::workloads
