#pragma once
// RocksDB's own log lines, from warnings up, as lines of ours. Thread-safe.

#include <rocksdb/env.h>

#include <cstdarg>
#include <memory>

namespace tidemark::storage {

/// Never writes a file: RocksDB's LOG files would grow beside the journal.
std::shared_ptr<rocksdb::Logger> MakeRocksDbLog();

}  // namespace tidemark::storage
