#pragma once
// How the journal uses RocksDB: the options, the keys, opening.
//
// A journal is written in order, read once at a start and cut off at its old end. So: the
// memtable is a plain vector, nothing is compressed or compacted (the tables of level 0 are the
// journal's segments), and old tables are deleted whole. A record is written twice in its life: to
// the write-ahead log, and to a table.

#include <rocksdb/db.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/result.h"
#include "storage/wal_watch.h"

namespace tidemark::storage {

/// A record's key: its number, big-endian, so that keys sort as numbers do.
class RecordKey {
 public:
  explicit RecordKey(uint64_t number);
  operator rocksdb::Slice() const {  // NOLINT(google-explicit-constructor)
    return {bytes_.data(), bytes_.size()};
  }
  /// Nothing when it is no record's key.
  static std::optional<uint64_t> Number(const rocksdb::Slice& key);

 private:
  std::array<char, sizeof(uint64_t)> bytes_;
};

/// What the journal knows of itself beside its records; kept under a key before all of theirs.
struct JournalFacts {
  uint64_t trimmed = 0;  ///< records up to here are gone on purpose
  uint64_t highest = 0;  ///< no number up to here is given again

  std::string Encode() const;
};
rocksdb::Slice FactsKey();

enum class OpenMode : uint8_t {
  kCreate,         ///< there is none yet
  kExisting,       ///< tables are written of what the write-ahead logs hold
  kInPlace,        ///< as the one before, but needs next to no room on the disk, and reads slowly
  kLook,           ///< nothing is changed; another process may be writing to it
  kLookAtDamaged,  ///< as the one before, and tables that are damaged or missing are no hindrance
};

struct Database {
  std::unique_ptr<WalWatch> watch;  ///< outlives the database
  std::unique_ptr<rocksdb::DB> db;
  bool has_bad_tables = false;  ///< it was opened in spite of tables that cannot be opened

  /// How to go through the records.
  rocksdb::ReadOptions Reading() const;
};

rocksdb::Status OpenDatabase(const std::string& directory, OpenMode mode, Database& database);
/// Makes a database anew of the tables and logs that can be read; what cannot is moved to `lost`
/// within the directory.
rocksdb::Status RepairDatabase(const std::string& directory);
/// All zeros when there are none, or they cannot be read.
JournalFacts ReadFacts(rocksdb::DB& db);

/// Numbers of the records that are there; 0: none.
struct JournalEnds {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t highest = 0;  ///< as `last`, or where damage hides what is behind it: no record is above
};
JournalEnds FindEnds(const Database& database, const JournalFacts& facts);

/// kUnavailable when there is no room, else kIo.
tl::unexpected<Error> DatabaseError(const std::string& directory, std::string_view what,
                                    const rocksdb::Status& status);

}  // namespace tidemark::storage
