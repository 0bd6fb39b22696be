#pragma once
// The files of checkpoints: their names, their keys, which are there.
//
//   checkpoint-N.sst          a checkpoint
//   checkpoint-N.sst.tmp      one that was being written when the process ended
//   checkpoint-N.sst.damaged  one that could not be read; two are kept, to look into
//
// Each is a RocksDB table file: the header, each block in pieces (block number and piece number,
// big-endian), the trailer. Stateless.

#include <rocksdb/options.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "storage/store.h"

namespace tidemark::storage {

inline constexpr uint32_t kCheckpointFormat = 1;
/// A block is cut into pieces of this size: RocksDB compresses and checks each on its own.
inline constexpr size_t kPieceBytes = size_t{1} << 20;
inline constexpr size_t kCheckpointsKept = 2;
inline constexpr size_t kDamagedKept = 2;

inline constexpr std::string_view kHeaderKey = "a";
inline constexpr std::string_view kTrailerKey = "c";
std::string PieceKey(uint64_t block, uint32_t piece);  ///< begins with "b"

/// First in the file.
struct CheckpointHeader {
  uint64_t number = 0;
  uint64_t journal_number = 0;
  int64_t created_ms = 0;

  std::string Encode() const;
  static Result<CheckpointHeader> Decode(std::string_view bytes);
};

/// Last in the file: without it the file is not whole.
struct CheckpointTrailer {
  uint64_t blocks = 0;
  uint64_t bytes = 0;           ///< of them
  uint64_t highest_record = 0;  ///< no block holds a later record of the journal

  std::string Encode() const;
  static Result<CheckpointTrailer> Decode(std::string_view bytes);
};

std::string CheckpointPath(const std::string& directory, uint64_t number);
/// Numbers of the checkpoints that are there, newest first.
std::vector<uint64_t> CheckpointNumbers(const std::string& directory);
/// Higher than that of any file there is, whatever its state.
uint64_t NextCheckpointNumber(const std::string& directory);
/// Removes all but the newest of each kind, and what was left half-written.
Result<void> RemoveOldCheckpoints(const std::string& directory);
rocksdb::Options CheckpointTableOptions();

}  // namespace tidemark::storage
