#pragma once
// Which namespace stands at which place of a shard, for the threads that write the journal: it
// names namespaces by their hash, which holds over restarts, and not by their place, which does
// not.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "workloads/known_series.h"

namespace tidemark::engine {

/// Written by the shard's thread, read by any. What a reader finds may be out of date; the hash of
/// the series, which is looked for in that namespace, then does not fit.
class NamespaceDirectory {
 public:
  NamespaceDirectory() = default;
  ~NamespaceDirectory() {
    for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
  }
  NamespaceDirectory(const NamespaceDirectory&) = delete;
  NamespaceDirectory& operator=(const NamespaceDirectory&) = delete;

  /// Numbers beyond SeriesPlace::kMaxNameSpace have no place and are not kept.
  void Set(size_t number, uint64_t name_space) {
    if (number / kPerChunk >= chunks_.size()) return;
    auto& chunk = chunks_[number / kPerChunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      chunk.store(std::make_unique<Chunk>().release(), std::memory_order_release);
    }
    (*chunk.load(std::memory_order_relaxed))[number % kPerChunk].store(name_space,
                                                                       std::memory_order_relaxed);
  }
  /// 0 where nothing was ever set.
  uint64_t At(size_t number) const {
    if (number / kPerChunk >= chunks_.size()) return 0;
    const Chunk* const chunk = chunks_[number / kPerChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? 0 : (*chunk)[number % kPerChunk].load(std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kPerChunk = 4096;
  using Chunk = std::array<std::atomic<uint64_t>, kPerChunk>;
  std::array<std::atomic<Chunk*>, workloads::SeriesPlace::kMaxNameSpace / kPerChunk + 1> chunks_{};
};

}  // namespace tidemark::engine
