#pragma once
// A file of this process that is gone after the test.

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace tidemark::cmd {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content)
      : path_(std::filesystem::temp_directory_path() /
              ("tidemark_cmd_test_" + std::to_string(getpid()) + "_" + std::to_string(Next()))) {
    Write(content);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void Write(std::string_view content) const { std::ofstream(path_, std::ios::binary) << content; }
  void Remove() const { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  static int Next() {
    static std::atomic<int> count{0};
    return count++;
  }
  std::filesystem::path path_;
};

}  // namespace tidemark::cmd
