#include "cmd/write_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "cmd/text.h"

namespace tidemark::cmd {

Result<void> WriteReport(const std::string& path, const std::string& text) {
  if (path.empty()) {
    const bool good =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (good) return {};
    return Fail(ErrorCode::kIo, "standard output cannot be written");
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return Fail(ErrorCode::kIo, fmt::format("{}: cannot be written, allowed: a file in a folder that "
                                          "may be written to",
                                          OneLine(path)));
}

}  // namespace tidemark::cmd
