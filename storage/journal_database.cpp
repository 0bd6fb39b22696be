#include "storage/journal_database.h"

#include <rocksdb/memtablerep.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/byte_codec.h"
#include "storage/rocksdb_log.h"

namespace tidemark::storage {
namespace {

/// Two of them may be in memory while one is written.
constexpr size_t kMemtableBytes = size_t{32} << 20;

rocksdb::Options DatabaseOptions(OpenMode mode) {
  rocksdb::Options options;
  options.create_if_missing = mode == OpenMode::kCreate;
  options.paranoid_checks = mode != OpenMode::kLookAtDamaged;
  // Whatever is still readable comes back, with gaps where it is not; the journal judges them.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  options.avoid_flush_during_recovery = mode == OpenMode::kInPlace;
  options.avoid_flush_during_shutdown = true;
  options.use_fsync = false;
  options.info_log = MakeRocksDbLog();
  options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  options.allow_concurrent_memtable_write = false;
  options.write_buffer_size = kMemtableBytes;
  options.max_write_buffer_number = 4;
  options.compression = rocksdb::kNoCompression;
  options.disable_auto_compactions = true;
  constexpr int kNever = std::numeric_limits<int>::max();
  options.level0_file_num_compaction_trigger = kNever;
  options.level0_slowdown_writes_trigger = kNever;
  options.level0_stop_writes_trigger = kNever;
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
  options.max_background_jobs = 2;
  // With one column family this does one thing alone: it bounds what a write-ahead log reserves on
  // the disk, which else is a memtable and a tenth (DBImpl::GetWalPreallocateBlockSize, 7.8). On a
  // disk that was full these 35 MB were all that had become free, and nothing was taken for ever.
  options.max_total_wal_size = uint64_t{1} << 20;
  options.max_manifest_file_size = 1U << 20;
  // Of the 4 MB that are reserved else, a small disk would have less to give.
  options.manifest_preallocation_size = size_t{64} << 10;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.skip_stats_update_on_db_open = true;
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.format_version = 5;  // what IsSafeTable knows
  table.checksum = rocksdb::kXXH3;
  table.block_size = size_t{64} << 10;
  // With its first key in the index a block is read when the iterator comes to it, and not before:
  // so a damaged one hinders nothing in front of it.
  table.index_type = rocksdb::BlockBasedTableOptions::kBinarySearchWithFirstKey;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace

RecordKey::RecordKey(uint64_t number) : bytes_() {
  for (size_t i = bytes_.size(); i-- > 0; number >>= 8) bytes_[i] = static_cast<char>(number);
}

std::optional<uint64_t> RecordKey::Number(const rocksdb::Slice& key) {
  if (key.size() != sizeof(uint64_t)) return std::nullopt;
  uint64_t number = 0;
  for (size_t i = 0; i < key.size(); ++i) {
    number = number << 8 | static_cast<unsigned char>(key[i]);
  }
  return number;
}

std::string JournalFacts::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Fixed64(trimmed);
  writer.Fixed64(highest);
  return bytes;
}

rocksdb::Slice FactsKey() { return {"\0", 1}; }

rocksdb::ReadOptions Database::Reading() const {
  rocksdb::ReadOptions options;
  // RocksDB 7.8 frees a table's deletions twice when the table that comes after it in an iterator
  // cannot be opened (Version::AddIteratorsForLevel). Without them records that were taken out may
  // be seen again, which their numbers tell; the damage is told in any case.
  options.ignore_range_deletions = has_bad_tables;
  return options;
}

rocksdb::Status OpenDatabase(const std::string& directory, OpenMode mode, Database& database) {
  database.db.reset();
  database.has_bad_tables = mode == OpenMode::kLookAtDamaged;
  database.watch = std::make_unique<WalWatch>(directory);
  rocksdb::Options options = DatabaseOptions(mode);
  options.wal_filter = database.watch.get();
  rocksdb::DB* db = nullptr;
  const bool only_looks = mode == OpenMode::kLook || mode == OpenMode::kLookAtDamaged;
  rocksdb::Status status;
  if (only_looks) {
    // With its column family named, RocksDB 7.8 does not take the short way for a database of one
    // table (CompactedDBImpl), which ends the process when that table cannot be opened.
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {rocksdb::kDefaultColumnFamilyName, options}};
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    status = rocksdb::DB::OpenForReadOnly(options, directory, families, &handles, &db);
    for (rocksdb::ColumnFamilyHandle* const handle : handles) {
      static_cast<void>(db->DestroyColumnFamilyHandle(handle));
    }
  } else {
    status = rocksdb::DB::Open(options, directory, &db);
  }
  if (status.ok()) database.db.reset(db);
  return status;
}

rocksdb::Status RepairDatabase(const std::string& directory) {
  return rocksdb::RepairDB(directory, DatabaseOptions(OpenMode::kExisting));
}

JournalFacts ReadFacts(rocksdb::DB& db) {
  std::string bytes;
  JournalFacts facts;
  if (!db.Get(rocksdb::ReadOptions(), FactsKey(), &bytes).ok()) return facts;
  ByteReader reader(bytes);
  facts.trimmed = reader.Fixed64();
  facts.highest = reader.Fixed64();
  return reader.AtEnd() ? facts : JournalFacts{};
}

JournalEnds FindEnds(const Database& database, const JournalFacts& facts) {
  rocksdb::DB& db = *database.db;
  JournalEnds ends;
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(database.Reading()));
  it->SeekToLast();
  if (it->status().ok()) {
    // With no record at all the last key is that of the facts.
    if (it->Valid()) ends.last = RecordKey::Number(it->key()).value_or(0);
    ends.highest = ends.last;
    it->Seek(RecordKey(facts.trimmed + 1));
    if (it->Valid()) ends.first = RecordKey::Number(it->key()).value_or(0);
    return ends;
  }
  // Damage somewhere: the way from the front goes as far as records can be read, and the tables'
  // own descriptions tell, perhaps one too high, how far they went.
  for (it->Seek(RecordKey(facts.trimmed + 1)); it->Valid(); it->Next()) {
    ends.last = RecordKey::Number(it->key()).value_or(ends.last);
    if (ends.first == 0) ends.first = ends.last;
  }
  ends.highest = ends.last;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const auto& table : tables) {
    ends.highest = std::max(ends.highest, RecordKey::Number(table.largestkey).value_or(0));
  }
  return ends;
}

tl::unexpected<Error> DatabaseError(const std::string& directory, std::string_view what,
                                    const rocksdb::Status& status) {
  return Fail(status.IsNoSpace() ? ErrorCode::kUnavailable : ErrorCode::kIo,
              directory + ": " + std::string(what) + ": " + status.ToString());
}

}  // namespace tidemark::storage
