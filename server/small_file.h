#pragma once
// Small files that are read again when they change: configuration, certificates, tokens.

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/result.h"

namespace tidemark::server {

inline constexpr size_t kMaxSmallFileBytes = size_t{1} << 20;

/// What a change of a file cannot leave as it is. Of a symbolic link (as Kubernetes mounts secrets)
/// it is the file that it leads to.
struct FileStamp {
  bool exists = false;
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

FileStamp StampOf(const std::string& path);

/// The whole of a regular file of at most kMaxSmallFileBytes; never waits for a writer. Errors
/// (kIo) name the path.
Result<std::string> ReadSmallFile(const std::string& path);

}  // namespace tidemark::server
