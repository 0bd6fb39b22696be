#include "storage/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tidemark::storage {

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

tl::unexpected<Error> SystemError(std::string_view what, const std::string& path, int error) {
  const bool no_room = error == ENOSPC || error == EDQUOT;
  const auto code = error == ENOENT ? ErrorCode::kNotFound
                    : no_room       ? ErrorCode::kUnavailable
                                    : ErrorCode::kIo;
  return Fail(
      code, path + ": cannot " + std::string(what) + ": " + std::generic_category().message(error));
}

bool Exists(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

Result<std::vector<std::string>> Names(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) return SystemError("list", directory, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> ReadSmallFile(const std::string& path, size_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return SystemError("open", path, errno);
  std::string content(most + 1, '\0');
  size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = read(file.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read", path, errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > most) {
    return Fail(ErrorCode::kIo, path + ": has more than the " + std::to_string(most) +
                                    " bytes that such a file may have");
  }
  content.resize(size);
  return content;
}

Result<void> WriteDurably(const std::string& path, std::string_view content, mode_t mode) {
  const std::string temporary = path + ".tmp";
  const auto give_up = [&](std::string_view what, int error) {
    unlink(temporary.c_str());
    return SystemError(what, temporary, error);
  };
  {
    const Descriptor file(
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!file.valid()) return SystemError("make", temporary, errno);
    for (size_t done = 0; done < content.size();) {
      const ssize_t put = write(file.get(), content.data() + done, content.size() - done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return give_up("write", errno);
      done += static_cast<size_t>(put);
    }
    if (fsync(file.get()) != 0) return give_up("sync", errno);
  }
  auto renamed = RenameDurably(temporary, path);
  if (!renamed) unlink(temporary.c_str());
  return renamed;
}

Result<void> RenameDurably(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return SystemError("rename", from, errno);
  return SyncPath(std::filesystem::path(to).parent_path().string());
}

Result<void> SyncPath(const std::string& path) {
  const std::string name = path.empty() ? "." : path;
  const Descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return SystemError("open", name, errno);
  if (fsync(file.get()) != 0) return SystemError("sync", name, errno);
  return {};
}

Result<void> RemoveAll(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return SystemError("remove", path, error.value());
  return {};
}

uint64_t BytesIn(const std::string& directory) {
  std::error_code error;
  uint64_t bytes = 0;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    // Files come and go beside this: one that has gone has no size.
    std::error_code gone;
    const uintmax_t size = it->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace tidemark::storage
