#pragma once
// Whether the last bytes of a RocksDB table file can be believed.
//
// Every other part of a table has a checksum; the footer has none, and RocksDB (7.8) sets aside as
// much memory as it says the index has. So what a flipped bit there could do is looked for before
// RocksDB sees the file. Stateless, thread-safe.

#include <string>

#include "model/result.h"

namespace tidemark::storage {

/// False when it is no table as we write them, whose parts lie within the file and are checked by
/// XXH3. kNotFound when there is no such file; kIo when it cannot be read.
Result<bool> HasGoodTableFooter(const std::string& path);

}  // namespace tidemark::storage
