#pragma once
// Reads a journal's records in order and says where, and why, it cannot be trusted any further.

#include <rocksdb/db.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model/result.h"
#include "storage/journal_database.h"

namespace tidemark::storage {

struct WalkEnd {
  uint64_t records = 0;  ///< given
  uint64_t bytes = 0;    ///< of their payloads
  uint64_t last = 0;     ///< number of the last good record, or where the walk began
  std::string damage;    ///< what ended it; empty: the journal's end
};

/// Gives the records above `after`: number, what is stored (head included), payload. An error of
/// `take` ends it and is passed on; kIo when the disk refuses, which may pass and is no damage.
Result<WalkEnd> WalkRecords(
    const Database& database, const JournalFacts& facts, uint64_t after,
    const std::function<Result<void>(uint64_t, std::string_view, std::string_view)>& take);

}  // namespace tidemark::storage
