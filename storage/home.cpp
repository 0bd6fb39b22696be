#include "storage/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "model/byte_codec.h"
#include "storage/frame.h"

namespace tidemark::storage {
namespace {

constexpr int kLockTries = 20;
constexpr std::chrono::milliseconds kLockPause{10};

constexpr std::string_view kFormatPrefix = "tidemark-storage ";
constexpr size_t kIdentityBytes = std::tuple_size_v<StoreIdentity>;
constexpr uint64_t kIdentityPlace = 0x1D;  // seeds the checksum; any number will do

std::string In(const std::string& directory, std::string_view name) {
  return directory + "/" + std::string(name);
}

/// The format of the store that is there. 0: none yet, and one may be made here.
Result<uint32_t> Look(const std::string& directory) {
  const std::string path = In(directory, "FORMAT");
  const auto format = ReadSmallFile(path, 4096);
  if (format) {
    std::string_view text = *format;
    uint32_t version = 0;
    if (!text.starts_with(kFormatPrefix) || !text.ends_with('\n')) {
      return Fail(ErrorCode::kInvalidArgument,
                  path + ": is damaged or of another program: it has to read \"" +
                      std::string(kFormatPrefix) + std::to_string(kFormatVersion) + "\"");
    }
    text.remove_prefix(kFormatPrefix.size());
    text.remove_suffix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (error != std::errc() || end != text.data() + text.size() ||
        version < kOldestFormatVersion || version > kFormatVersion) {
      return Fail(ErrorCode::kInvalidArgument,
                  path + ": format \"" + std::string(text.substr(0, 32)) +
                      "\" is not known; this version reads formats " +
                      std::to_string(kOldestFormatVersion) + " to " +
                      std::to_string(kFormatVersion) +
                      ": use the version that wrote it, or another directory");
    }
    return version;
  }
  if (format.error().code != ErrorCode::kNotFound) return tl::unexpected(format.error());

  const auto names = Names(directory);
  if (!names) {
    if (names.error().code == ErrorCode::kNotFound) return 0;
    return tl::unexpected(names.error());
  }
  // Every ext4 file system that is mounted has the last one.
  static constexpr std::string_view kOurs[] = {"lock",       "identity", "identity.tmp",
                                               "FORMAT.tmp", "journal",  "lost+found"};
  const auto strange = std::find_if(names->begin(), names->end(), [](const std::string& name) {
    return std::find(std::begin(kOurs), std::end(kOurs), name) == std::end(kOurs);
  });
  if (strange != names->end()) {
    return Fail(ErrorCode::kInvalidArgument,
                directory + ": is no store: it has no FORMAT, but \"" + *strange +
                    "\": name an empty directory, or one that does not exist");
  }
  // Half-made: its journal cannot hold anything yet. If it does, FORMAT was lost.
  const auto journal = Names(In(directory, "journal"));
  if (!journal) return 0;
  for (const std::string& name : *journal) {
    const std::string file = In(directory, "journal/" + name);
    std::error_code unknown;
    const bool log = name.ends_with(".log") && std::filesystem::file_size(file, unknown) > 0;
    if (name.ends_with(".sst") || log) {
      return Fail(ErrorCode::kInvalidArgument,
                  directory +
                      ": has a journal, but no FORMAT: put that file back from a backup, "
                      "or move the directory away to begin anew");
    }
  }
  return 0;
}

Result<void> MakeDirectories(const std::string& directory) {
  std::error_code error;
  const auto parent = std::filesystem::path(directory).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return SystemError("make", parent.string(), error.value());
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("make", directory, errno);
  }
  return {};
}

Result<Descriptor> Lock(const std::string& directory) {
  const std::string path = In(directory, "lock");
  Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return SystemError("open", path, errno);
  // Who only looks holds it for a moment.
  int held = flock(lock.get(), LOCK_EX | LOCK_NB);
  for (int tries = 0; held != 0 && errno == EWOULDBLOCK && tries < kLockTries; ++tries) {
    std::this_thread::sleep_for(kLockPause);
    held = flock(lock.get(), LOCK_EX | LOCK_NB);
  }
  if (held != 0) {
    if (errno != EWOULDBLOCK) return SystemError("lock", path, errno);
    const auto holder = ReadSmallFile(path, 64);
    const std::string pid = holder ? holder->substr(0, holder->find('\n')) : "";
    return Fail(ErrorCode::kUnavailable, directory + ": is in use by " +
                                             (pid.empty() ? "another process" : "process " + pid) +
                                             ": stop that one, or name another directory");
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  // The pid is for people only: a full disk must not keep the store from opening.
  if (ftruncate(lock.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t written = pwrite(lock.get(), pid.data(), pid.size(), 0);
  }
  return lock;
}

Result<StoreIdentity> ReadIdentity(const std::string& path) {
  const auto bytes = ReadSmallFile(path, kIdentityBytes + sizeof(uint64_t));
  if (!bytes) return tl::unexpected(bytes.error());
  const std::string_view random = std::string_view(*bytes).substr(0, kIdentityBytes);
  ByteReader checksum(std::string_view(*bytes).substr(random.size()));
  if (checksum.Fixed64() != Checksum(kIdentityPlace, random) || !checksum.AtEnd()) {
    return Fail(ErrorCode::kIo, path +
                                    ": is damaged, and without it the journal and the checkpoints "
                                    "cannot be understood: put it back from a backup, or move the "
                                    "directory away to begin anew");
  }
  StoreIdentity identity;
  std::copy(random.begin(), random.end(), identity.begin());
  return identity;
}

Result<void> MakeIdentity(const std::string& path) {
  std::string bytes(kIdentityBytes, '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("make random bytes for", path, errno);
    done += static_cast<size_t>(got);
  }
  const uint64_t checksum = Checksum(kIdentityPlace, bytes);
  ByteWriter(bytes).Fixed64(checksum);
  return WriteDurably(path, bytes, 0600);
}

}  // namespace

Result<Home> EnterHome(const Options& options) {
  const std::string& directory = options.path;
  if (directory.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "storage path: is empty, allowed: a directory");
  }
  const std::string identity_path = In(directory, "identity");
  auto made = Look(directory);
  if (!made) return tl::unexpected(made.error());
  Home home;
  if (!options.read_only) {
    if (auto there = MakeDirectories(directory); !there) return tl::unexpected(there.error());
    auto lock = Lock(directory);
    if (!lock) return tl::unexpected(lock.error());
    home.lock = std::move(*lock);
    // Another process may have made it, or begun to, before the lock was ours.
    made = Look(directory);
    if (!made) return tl::unexpected(made.error());
  } else if (*made == 0) {
    return Fail(ErrorCode::kNotFound, directory + ": there is no store");
  }
  home.made = *made != 0;
  if (home.made) home.format = *made;
  auto identity = ReadIdentity(identity_path);
  if (!identity && !home.made) {
    // Half-made or new: nothing has been hashed with whatever is there.
    if (auto written = MakeIdentity(identity_path); !written) {
      return tl::unexpected(written.error());
    }
    identity = ReadIdentity(identity_path);
  }
  if (!identity && identity.error().code == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kIo, identity_path +
                                    ": is missing, and without it the journal and the "
                                    "checkpoints cannot be understood: put it back from a "
                                    "backup, or move the directory away to begin anew");
  }
  if (!identity) return tl::unexpected(identity.error());
  home.identity = *identity;
  return home;
}

bool IsHeldByWriter(const std::string& directory) {
  const Descriptor lock(open(In(directory, "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return lock.valid() && flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<void> CompleteHome(const std::string& directory) {
  return WriteDurably(In(directory, "FORMAT"),
                      std::string(kFormatPrefix) + std::to_string(kFormatVersion) + "\n", 0644);
}

}  // namespace tidemark::storage
