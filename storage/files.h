#pragma once
// The few calls to the file system that the store makes itself, each durable when it says so and
// each error with the path and the system's words. No state; thread-safe.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tidemark::storage {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// kIo, or kUnavailable when `error` says that there is no room.
tl::unexpected<Error> SystemError(std::string_view what, const std::string& path, int error);

bool Exists(const std::string& path);
/// The names in a directory, without `.` and `..`, sorted. kNotFound when there is none.
Result<std::vector<std::string>> Names(const std::string& directory);
/// The whole of a small file; kNotFound when there is none, kIo when it has more than `most` bytes.
Result<std::string> ReadSmallFile(const std::string& path, size_t most);
/// Through `PATH.tmp`: after it the file has the whole content, also after a loss of power; on an
/// error it is as it was.
Result<void> WriteDurably(const std::string& path, std::string_view content, mode_t mode);
/// As rename(2), and durable.
Result<void> RenameDurably(const std::string& from, const std::string& to);
/// What is in the file or directory reaches the disk.
Result<void> SyncPath(const std::string& path);
/// Removes a file, or a directory with all in it; nothing to remove is success.
Result<void> RemoveAll(const std::string& path);
/// Bytes of the files right in a directory.
uint64_t BytesIn(const std::string& directory);

}  // namespace tidemark::storage
