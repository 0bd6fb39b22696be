#include "server/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tidemark::server {
namespace {

constexpr int64_t kNanoseconds = 1'000'000'000;

tl::unexpected<Error> Fault(const std::string& path, const std::string& why) {
  return Fail(ErrorCode::kIo, path + ": the file cannot be read: " + why);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

FileStamp StampOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {.exists = true,
          .device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec,
          .changed_ns = status.st_ctim.tv_sec * kNanoseconds + status.st_ctim.tv_nsec};
}

Result<std::string> ReadSmallFile(const std::string& path) {
  const auto reason = [](int error) { return std::generic_category().message(error); };
  // Not blocking: opening a pipe would wait for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return Fault(path, reason(errno));
  struct stat status {};
  if (fstat(file.number(), &status) != 0) return Fault(path, reason(errno));
  if (!S_ISREG(status.st_mode)) return Fault(path, "it is no regular file");
  std::string text;
  std::array<char, 16 << 10> block{};
  for (;;) {
    const ssize_t size = read(file.number(), block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Fault(path, reason(errno));
    if (size == 0) return text;
    text.append(block.data(), static_cast<size_t>(size));
    if (text.size() > kMaxSmallFileBytes) {
      return Fault(path, "it is larger than " + std::to_string(kMaxSmallFileBytes) + " bytes");
    }
  }
}

}  // namespace tidemark::server
