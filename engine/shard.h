#pragma once
// One shard: a thread, a bounded queue, and the state of the namespaces that live here.
//
// Nothing else touches that state. Batches are applied in exactly the order of the queue.

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "engine/addressing.h"
#include "engine/batch_pool.h"
#include "engine/demand_tracks.h"
#include "engine/journal_record.h"
#include "engine/namespace_directory.h"
#include "engine/node_sizes.h"
#include "engine/options.h"
#include "engine/request_history.h"
#include "forecast/trainer.h"
#include "model/counters.h"
#include "model/result.h"
#include "model/sink.h"
#include "model/snapshot.h"
#include "workloads/namespace_state.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

/// What a shard puts into a Snapshot.
struct ShardPage {
  std::vector<std::shared_ptr<const NamespaceBlock>> blocks;
  std::vector<workloads::SourceCount> sources;
  NodeSizes nodes;  ///< those that this shard's namespaces are told of
  std::vector<forecast::TrainingWish> due_fits;
  /// Namespaces that have something to give up; it changes state and so has to go through the
  /// journal.
  std::vector<AgeingRecord> due;
};

/// What came of one batch.
struct BatchOutcome {
  WriteVerdict verdict;
  /// Items `by_hash` whose series is not there (any more): nothing was done with them. They have to
  /// come again with their labels.
  workloads::SeriesBatch missed;
};
using BatchDone = std::function<void(BatchOutcome)>;

/// A namespace as a checkpoint keeps it.
struct SavedNamespace {
  uint64_t name_space = 0;
  /// The journal's records up to this number are in it, as far as they concern it.
  uint64_t applied_number = 0;
  int64_t silent_ms = 0;
  std::string_view state;  ///< NamespaceState::Save
};

/// What all shards use. The references must outlive them.
struct ShardCommons {
  const Options& options;
  const Addressing& addressing;
  workloads::KnownSeries& known;
  BatchPool& pool;
  workloads::SeriesBudget& budget;
  EngineCounters& counters;
  DemandPlaces& demand_places;
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
  /// The same, but waits for a place.
  void ReserveForReplay();
  /// Queues a batch on a place that was reserved; `done` is called on the shard's thread. `number`:
  /// of its journal record, 0 without a journal.
  void Push(workloads::SeriesBatch batch, uint64_t number, BatchDone done);
  /// The same for a batch that comes from the journal: what its namespaces hold already is left
  /// out.
  void Replay(workloads::SeriesBatch batch, uint64_t number, BatchDone done);
  /// Runs `task` on the shard's thread, behind all that is queued. Not bounded: for ticks and
  /// questions only.
  void Post(std::function<void(Shard&)> task);

  // For tasks on the shard's own thread:

  /// The page as of now; unchanged blocks are the same objects as before. A namespace to which
  /// nothing comes any more, so that its own time stands still, is aged by the wall clock: what
  /// holds only while it is said is withdrawn after five minutes; what it has to give up is said in
  /// ShardPage::due: its series after two hours if the ceiling on series is near, all of it after
  /// eight days.
  ShardPage Publish(int64_t now_ms);
  /// Gives up what a page found to be due, unless a sample has come since.
  void Age(const AgeingRecord& ageing, uint64_t number);

  /// Appends namespaces from the `next`-th place on, until `bytes` are reached, each as a block of
  /// a checkpoint that holds all records up to `number` at least. False when there are no more.
  bool Save(size_t& next, uint64_t number, size_t bytes, std::vector<std::string>& blocks) const;
  /// Puts back one that is not here. kInvalidArgument: the bytes are none of Save; nothing changed.
  Result<void> Restore(const SavedNamespace& saved, std::span<const uint16_t> sources);
  /// Forgets everything.
  void Clear();
  workloads::NamespaceState* Find(uint64_t name_space) const;
  /// As Find; makes the namespace where it is not.
  workloads::NamespaceState& FindOrMake(uint64_t name_space, std::string_view cluster,
                                        std::string_view name);
  /// Whether what a journal record with this number says of a namespace is in it already.
  bool Holds(uint64_t name_space, uint64_t number) const;
  /// A record that was not a batch has been applied.
  void Reached(uint64_t number) { last_number_ = std::max(last_number_, number); }
  const RequestHistory& history() const { return history_; }
  /// What all shards together know of the nodes; what is shown by others is shown anew.
  void SetNodes(const std::shared_ptr<const NodeSizes>& nodes);
  /// From the next batch on all is estimated, forecast and scaled by these.
  void SetRules(const ProfileSetPtr& profiles, const ForecastSettingsPtr& forecast,
                const ScalingSettingsPtr& scaling);
  /// What the fit of a wish of this shard needs; nothing when the workload is no more.
  std::optional<forecast::TrainingTask> TaskOf(const forecast::TrainingWish& wish) const;
  /// Takes a trained model into use. kNotFound, kInvalidArgument: its workload is gone, or asks for
  /// another; nothing has changed.
  Result<void> Activate(const ModelRecord& model, uint64_t number);
  /// What strict profiles forget when the daemon is restarted (RequestHistory).
  void RestartAsVpa(int64_t now_ms, uint64_t number);
  /// How the requests of a workload came about; appended where there is one.
  void ExplainRequests(std::string_view name_space, std::string_view workload_type,
                       std::string_view workload, std::vector<WorkloadExplanation>& out);
  /// All namespaces, in the order of their places.
  template <class Visit>
  void ForEachNamespace(Visit visit) const {
    for (const Resident& resident : residents_) {
      if (resident.state) visit(*resident.state);
    }
  }
  const NamespaceDirectory& directory() const { return directory_; }  ///< thread-safe
  void Explain(std::string_view name_space, std::string_view workload,
               std::vector<WorkloadStatus>& out) const;

 private:
  struct Batch {
    workloads::SeriesBatch series;
    uint64_t number = 0;
    bool replayed = false;
    BatchDone done;
  };
  using Work = std::variant<Batch, std::function<void(Shard&)>>;
  struct Resident {
    uint64_t name_space = 0;                           ///< SeriesItem::name_space
    std::unique_ptr<workloads::NamespaceState> state;  ///< null: the place is free
    std::shared_ptr<const NamespaceBlock> block;
    std::vector<forecast::TrainingWish> due_fits;  ///< of the last block
    int64_t silent_ms = 0;         ///< wall time since the last batch, as the ticks saw it
    uint64_t restored_number = 0;  ///< SavedNamespace::applied_number; 0: made from the journal
  };

  void Run();
  void Queue(Batch batch);
  BatchOutcome Apply(const Batch& batch);
  workloads::NamespaceState* ApplyByHash(const workloads::SeriesItem& item,
                                         std::span<const Sample> samples, int64_t arrival_ms,
                                         BatchOutcome& outcome);
  workloads::NamespaceState* KnownAt(const workloads::SeriesItem& item) const;
  workloads::NamespaceState* NamespaceOf(const workloads::SeriesItem& item);
  void Prefetch(const workloads::SeriesBatch& batch, size_t next) const;
  uint32_t TakePlace(uint64_t name_space);
  void Drop(uint32_t place);
  /// Brings the block of a namespace up to date; what it has to give up is appended to `due`.
  void Refresh(Resident& resident, int64_t elapsed_ms, std::vector<AgeingRecord>& due);
  const NodeSize& LargestNode(const workloads::NamespaceState& state) const;
  void Render(Resident& resident);
  void AddWhatFollowsLoad(Resident& resident, std::span<const workloads::WorkloadView> views,
                          const NamespaceBlock* before, NamespaceBlock& block);

  const size_t max_batches_;
  const Addressing& addressing_;
  BatchPool& pool_;
  EngineCounters& counters_;
  RequestHistory history_;
  workloads::ShardContext context_;
  std::vector<Resident> residents_;  // by SeriesPlace::name_space
  std::vector<uint32_t> free_residents_;
  NamespaceDirectory directory_;                                 // of residents_
  uint64_t last_number_ = 0;                                     // of the batches applied
  boost::unordered_flat_map<uint64_t, uint32_t> by_name_space_;  // places in residents_
  std::vector<LabelView> labels_;
  std::vector<workloads::NamespaceState*> touched_;  // by the batch at hand
  int64_t published_ms_ = 0;
  std::shared_ptr<const NodeSizes> nodes_ = std::make_shared<NodeSizes>();

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::condition_variable room_;  // in the queue
  std::deque<Work> queue_;
  size_t reserved_ = 0;  // batches queued or about to be
  bool refusing_ = false;
  bool stopping_ = false;

  std::thread thread_;  // last: runs on all of the above
};

}  // namespace tidemark::engine
