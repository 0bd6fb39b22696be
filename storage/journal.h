#pragma once
// The journal of the store: see Store for what its calls promise.
//
// Lives in `DIRECTORY/journal`. Damaged tables are moved to `journal.damaged`, until the next such.
//
// Thread-safe as Store says: Append and Replay one at a time, all else beside them.

#include <rocksdb/db.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "model/counters.h"
#include "model/result.h"
#include "storage/disk_space.h"
#include "storage/journal_database.h"
#include "storage/journal_walk.h"
#include "storage/options.h"
#include "storage/store.h"

namespace tidemark::storage {

class Journal {
 public:
  /// `create`: there is none yet, or a half-made one without records. No number up to `floor` is
  /// ever given: the checkpoints know of records that a damaged journal may have lost. The counters
  /// must outlive it.
  static Result<std::unique_ptr<Journal>> Open(const Options& options, bool create, uint64_t floor,
                                               StorageCounters& counters);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  Result<uint64_t> Append(std::span<const std::string_view> records);
  uint64_t LastNumber() const { return last_.load(std::memory_order_acquire); }
  Result<ReplayOutcome> Replay(uint64_t after,
                               const std::function<Result<void>(uint64_t, std::string_view)>& take);
  Result<void> Trim(uint64_t number);
  JournalInfo Info() const;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  Journal(const Options& options, StorageCounters& counters);

  Result<void> OpenFirst(bool create);
  Result<void> Look();
  /// Tables that RocksDB must not see. Returns where they are now.
  std::vector<std::string> SetAsideHopelessTables();
  bool TablesAreDamaged(const rocksdb::Status& status);
  rocksdb::Status Repair(const rocksdb::Status& why, bool keep_aside);
  void CountLosses();
  /// Brings the database back after an error, at most twice a second. append_mutex_ is held.
  Result<void> Mend();
  Result<void> Reopen();
  Error Refused(std::string_view what, const rocksdb::Status& status);
  /// Takes out what is behind the damage, for good.
  Result<void> TakeOut(const WalkEnd& end, ReplayOutcome& outcome);
  Result<void> DeleteBehind(uint64_t last_good, uint64_t last_there);
  rocksdb::Status WriteTrim(rocksdb::WriteBatch& batch);
  /// Begins a new write-ahead log, so that the old one can go.
  rocksdb::Status SwitchLog();
  void DropTables(uint64_t number);
  void MeasureBytes();
  Result<void> SyncLogs();
  void SyncNow();
  void SyncLoop(const std::stop_token& stop);

  const Options options_;
  const std::string directory_;  ///< of the database
  StorageCounters& counters_;

  mutable std::shared_mutex database_mutex_;  ///< exclusive to exchange the database
  Database database_;

  bool beside_writer_ = false;  ///< looking only: another process had it open
  std::string torn_;            ///< what the logs had lost when they were opened; empty: nothing

  std::mutex append_mutex_;  ///< guards the next five
  DiskSpace space_;
  uint64_t previous_ = 0;  ///< number of the last record that is there
  uint64_t ghosts_ = 0;    ///< a refused append may have left records up to this number
  SteadyTime mended_at_{};
  bool resumed_ = false;  ///< the last attempt at mending was to resume

  mutable std::mutex trim_mutex_;  ///< guards the next two
  JournalFacts facts_;
  bool logs_hold_trimmed_ = false;  ///< no new log was begun since the last trimming

  std::atomic<uint64_t> first_{0};
  std::atomic<uint64_t> last_{0};
  std::atomic<bool> broken_{false};  ///< RocksDB takes no writes until it is mended
  std::atomic<bool> unsynced_{false};

  std::mutex sync_mutex_;
  std::condition_variable_any sync_wake_;
  std::jthread sync_thread_;  ///< last: ends before what it uses
};

}  // namespace tidemark::storage
