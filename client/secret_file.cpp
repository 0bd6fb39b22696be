#include "client/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace tidemark::client {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 10;

tl::unexpected<Error> Wrong(const std::string& path, const std::string& why) {
  return Fail(ErrorCode::kIo, path + ": the file cannot be used: " + why);
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

Result<std::string> ReadSecretFile(const std::string& path) {
  // Not blocking: opening a pipe would wait for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) {
    return Wrong(path, std::generic_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) return Wrong(path, "it is no regular file");
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    const ssize_t size = read(file.number(), block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Wrong(path, std::generic_category().message(errno));
    if (size == 0) break;
    text.append(block.data(), static_cast<size_t>(size));
    if (text.size() > kMaxBytes) return Wrong(path, "it is larger than 64 KiB");
  }
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return Wrong(path, "it is empty");
  text = text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
  if (text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    return Wrong(path, "it has more than one line");
  }
  return text;
}

}  // namespace tidemark::client
