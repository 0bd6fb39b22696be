#pragma once
// Whether RocksDB may open a table file.
//
// Most parts of a table have a checksum that RocksDB looks at first, but two have not: the footer,
// after which it sets aside as much memory as the index is said to have, and the properties, which
// it takes apart before it checks them (7.8), and ends the process when they make no sense. So what
// a flipped bit could do there is looked for before RocksDB sees the file. Stateless, thread-safe.

#include <string>

#include "model/result.h"

namespace tidemark::storage {

/// False when it is no table as we write them: places that lie within the file, blocks that XXH3
/// confirms. The data and their index are not looked at. kNotFound when there is no such file; kIo
/// when it cannot be read.
Result<bool> IsSafeTable(const std::string& path);

}  // namespace tidemark::storage
