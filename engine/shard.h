#pragma once
// One shard: a thread, a bounded queue, and the state of the namespaces that live here.
//
// Nothing else touches that state. Batches are applied in exactly the order of the queue.

#include <boost/unordered/unordered_flat_map.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "engine/addressing.h"
#include "engine/batch_pool.h"
#include "engine/options.h"
#include "engine/request_history.h"
#include "model/counters.h"
#include "model/sink.h"
#include "model/snapshot.h"
#include "workloads/namespace_state.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

/// What a shard puts into a Snapshot.
struct ShardPage {
  std::vector<std::shared_ptr<const NamespaceBlock>> blocks;
  std::vector<workloads::SourceCount> sources;
};

/// What all shards use. The references must outlive them.
struct ShardCommons {
  const Options& options;
  const Addressing& addressing;
  workloads::KnownSeries& known;
  BatchPool& pool;
  workloads::SeriesBudget& budget;
  EngineCounters& counters;
};

class Shard {
 public:
  Shard(size_t number, const ShardCommons& commons);
  /// Applies what is queued and ends the thread.
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// From now on no place is given away.
  void Refuse();
  /// Takes a place in the queue for one batch; false when the queue is full. Thread-safe, as all
  /// that follows.
  bool Reserve();
  void CancelReservation();
  /// Queues a batch on a place that was reserved; `done` is called on the shard's thread.
  void Push(workloads::SeriesBatch batch, std::function<void(const WriteVerdict&)> done);
  /// Runs `task` on the shard's thread, behind all that is queued. Not bounded: for ticks and
  /// questions only.
  void Post(std::function<void(Shard&)> task);

  // For tasks on the shard's own thread:

  /// The page as of now; unchanged blocks are the same objects as before. A namespace to which
  /// nothing comes any more, so that its own time stands still, is aged by the wall clock: what
  /// holds only while it is said is withdrawn after five minutes, its series are given up after two
  /// hours if the ceiling on series is near, all of it goes after eight days.
  ShardPage Publish(int64_t now_ms);
  void Explain(std::string_view name_space, std::string_view workload,
               std::vector<WorkloadStatus>& out) const;

 private:
  struct Batch {
    workloads::SeriesBatch series;
    std::function<void(const WriteVerdict&)> done;
  };
  using Work = std::variant<Batch, std::function<void(Shard&)>>;
  struct Resident {
    uint64_t name_space = 0;                           ///< SeriesItem::name_space
    std::unique_ptr<workloads::NamespaceState> state;  ///< null: the place is free
    std::shared_ptr<const NamespaceBlock> block;
    int64_t silent_ms = 0;  ///< wall time since the last batch, as the ticks saw it
  };

  void Run();
  WriteVerdict Apply(const workloads::SeriesBatch& batch);
  workloads::NamespaceState* KnownAt(const workloads::SeriesItem& item) const;
  workloads::NamespaceState* NamespaceOf(workloads::SeriesItem& item);
  void Prefetch(const workloads::SeriesBatch& batch, size_t next) const;
  bool Age(Resident& resident, int64_t elapsed_ms);
  std::shared_ptr<const NamespaceBlock> Render(workloads::NamespaceState& state,
                                               int64_t silent_ms) const;

  const size_t max_batches_;
  const Addressing& addressing_;
  BatchPool& pool_;
  EngineCounters& counters_;
  RequestHistory history_;
  workloads::ShardContext context_;
  std::vector<Resident> residents_;  // by SeriesPlace::name_space
  std::vector<uint32_t> free_residents_;
  boost::unordered_flat_map<uint64_t, uint32_t> by_name_space_;  // places in residents_
  std::vector<LabelView> labels_;
  std::vector<workloads::NamespaceState*> touched_;  // by the batch at hand
  int64_t published_ms_ = 0;

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<Work> queue_;
  size_t reserved_ = 0;  // batches queued or about to be
  bool refusing_ = false;
  bool stopping_ = false;

  std::thread thread_;  // last: runs on all of the above
};

}  // namespace tidemark::engine
