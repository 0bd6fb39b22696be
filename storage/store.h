#pragma once
// What outlives the process: a journal of records in one order, and checkpoints of everything those
// records have made.
//
// One directory, one process (a lock on it). Records and the blocks of a checkpoint are bytes whose
// meaning is the caller's; each carries a checksum, so that what comes back is what went in.
//
// Layout of the directory:
//   FORMAT                `tidemark-storage VERSION`, looked at before anything else is opened
//   lock                  held while a process has the store open; holds its process id
//   identity              random bytes made with the store (StoreIdentity)
//   journal/              a RocksDB database: record number (big-endian) → record
//   checkpoint-N.sst      RocksDB table files, N counting up; the two newest are kept, and the two
//                         newest `.damaged` ones
//   journal.damaged/      tables of the journal that could not be opened, of the last time there
//   were

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/clock.h"
#include "model/counters.h"
#include "model/result.h"
#include "storage/options.h"

namespace tidemark::storage {

/// What is written. 2 came with kills and profiles in the state of namespaces, 3 with resources by
/// name and what the kernel says of containers, 4 with the demand of workloads, 5 with what
/// replicas are decided by, 6 with the targets of autoscalers and with LimitRanges; the files are
/// those of 1. A store of an older format that is known is made one of this by the first who opens
/// it for writing: then the version that wrote it refuses it, rather than to lose what it does not
/// know.
inline constexpr uint32_t kFormatVersion = 6;
inline constexpr uint32_t kOldestFormatVersion = 1;
/// The most that one record or block may have.
inline constexpr size_t kMaxRecordBytes = size_t{1} << 30;

/// Random bytes that were made with the store. What hashes with them finds the same hashes after a
/// restart, and no peer can foretell them.
using StoreIdentity = std::array<unsigned char, 256>;

struct CheckpointInfo {
  uint64_t number = 0;          ///< in the file's name
  uint64_t journal_number = 0;  ///< the records up to here are in it; more may be (the blocks tell)
  int64_t created_ms = 0;       ///< wall clock, Unix time
  uint64_t blocks = 0;
  uint64_t bytes = 0;  ///< of the file
};

/// A checkpoint being written. Not thread-safe; must go before its store. Dropped without Finish,
/// it leaves nothing behind.
class CheckpointWriter {
 public:
  virtual ~CheckpointWriter() = default;
  /// Blocks come back in the order in which they were added.
  virtual Result<void> Add(std::string_view block) = 0;
  /// Makes it durable and the newest, and removes those that are no longer kept. kIo: it does not
  /// exist, those before it are as they were.
  virtual Result<CheckpointInfo> Finish() = 0;
};

/// What replaying the journal came to.
struct ReplayOutcome {
  uint64_t records = 0;          ///< given to the caller
  uint64_t bytes = 0;            ///< of these
  uint64_t last_number = 0;      ///< of the last one given, or `after`
  uint64_t dropped_records = 0;  ///< damaged ones and those behind them
  std::string damage;            ///< what was wrong, for the log; empty: nothing
};

struct JournalInfo {
  uint64_t first_number = 0;  ///< 0: the journal is empty
  uint64_t last_number = 0;   ///< also of an empty journal: the number of the last record ever kept
  uint64_t bytes = 0;         ///< on disk, about
  uint64_t trimmed = 0;       ///< records up to here were taken away: only checkpoints hold them
};

/// Thread-safe but where it says otherwise. Errors name the directory or file, what was wrong and
/// what to do.
class Store {
 public:
  /// Opens or makes the store. kInvalidArgument: the format is unknown or the directory is
  /// something else (nothing was changed); kUnavailable: another process has it; kIo: the disk
  /// refuses. The counters must outlive it, as must the clock.
  static Result<std::unique_ptr<Store>> Open(const Options& options, const Clock& clock,
                                             StorageCounters& counters);
  virtual ~Store() = default;

  virtual const StoreIdentity& identity() const = 0;
  /// Version of the format that its directory is of.
  virtual uint32_t format() const { return kFormatVersion; }
  virtual const Options& options() const = 0;

  // The journal.

  /// Appends the records in one write, all or nothing; durable as Options::sync says. Returns the
  /// number of the first; the others follow it without a gap, and it follows the last one ever
  /// appended. kIo or kUnavailable (no room): none of them was kept, and later calls may succeed:
  /// once the disk has room again the store recovers by itself. One call at a time.
  virtual Result<uint64_t> Append(std::span<const std::string_view> records) = 0;
  /// Number of the last record; 0 before the first.
  virtual uint64_t LastNumber() const = 0;
  /// Gives all records with a number above `after`, in order. Damage ends it: what is behind is
  /// counted, logged and taken out of the journal, so that it never comes back (unless read-only).
  /// An error of `take` ends it too and is passed on. Before the first Append only.
  virtual Result<ReplayOutcome> Replay(
      uint64_t after, const std::function<Result<void>(uint64_t, std::string_view)>& take) = 0;
  /// Takes away the records up to `number`, at once or a little later. May run beside Append.
  virtual Result<void> Trim(uint64_t number) = 0;
  virtual JournalInfo Journal() const = 0;

  // Checkpoints.

  /// One at a time.
  virtual Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(uint64_t journal_number) = 0;
  /// Those that are there, newest first; also damaged ones, as far as their names tell.
  virtual std::vector<CheckpointInfo> Checkpoints() const = 0;
  /// Gives the blocks of one checkpoint in order, each checked. An error of `take`, or damage
  /// (kIo), ends it; what was given before stays with the caller, who has to throw it away. The
  /// text lives for the call only.
  virtual Result<CheckpointInfo> ReadCheckpoint(
      uint64_t number, const std::function<Result<void>(std::string_view)>& take) const = 0;
  /// Marks a checkpoint as damaged: it is no longer listed, its file is kept under another name.
  virtual Result<void> SetAside(uint64_t number) = 0;
};

}  // namespace tidemark::storage
