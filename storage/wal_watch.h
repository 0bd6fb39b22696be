#pragma once
// How many bytes of its write-ahead logs RocksDB could not use when it opened a database.
//
// RocksDB goes past what is torn or damaged without an error, and tells of it, if at all, in its
// own log only. So this counts what it did read: each batch lies in its file in fragments of known
// size (https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format), and what a file has
// beyond them was left out. Exact when only the end of a file is torn; where the middle is damaged,
// about. Not thread-safe; used by RocksDB within DB::Open only, but must live as long as the
// database.

#include <rocksdb/wal_filter.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidemark::storage {

class WalWatch final : public rocksdb::WalFilter {
 public:
  /// Looks up how long the files are: before the database is opened.
  explicit WalWatch(const std::string& directory);

  struct Loss {
    std::string file;  ///< name within the directory
    uint64_t bytes = 0;
    uint64_t of_bytes = 0;  ///< that the file has
  };
  /// After the database was opened: the files of which something was left out.
  std::vector<Loss> Losses() const;

  const char* Name() const override { return "tidemark.WalWatch"; }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& log_numbers,
                                const std::map<std::string, uint32_t>& names) override;
  WalProcessingOption LogRecordFound(unsigned long long log_number, const std::string& file,
                                     const rocksdb::WriteBatch& batch,
                                     rocksdb::WriteBatch* new_batch, bool* changed) override;

 private:
  struct File {
    std::string name;
    uint64_t bytes = 0;
    uint64_t read = 0;  ///< end of the last batch that was read
  };
  std::map<uint64_t, File> files_;
  uint64_t first_needed_ = 0;
};

}  // namespace tidemark::storage
