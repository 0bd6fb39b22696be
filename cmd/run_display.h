#pragma once
// What a command shows of a long run while it goes on.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string_view>

namespace tidemark::cmd {

/// On standard error: one line that moves on a terminal, else a line now and then. A short run
/// shows nothing. Not thread-safe.
class RunDisplay {
 public:
  void Show(std::string_view line) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? kMoveEvery : kPlainLineEvery);
    if (terminal_) {
      fmt::print(stderr, "\r{:<60}", line);
      open_ = true;
    } else {
      fmt::print(stderr, "{}\n", line);
    }
  }
  void Close() {
    if (open_) fmt::print(stderr, "\r{:<60}\r", "");
    open_ = false;
  }

 private:
  static constexpr std::chrono::seconds kQuietFor{2};
  static constexpr std::chrono::milliseconds kMoveEvery{200};
  static constexpr std::chrono::milliseconds kPlainLineEvery{10'000};

  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool open_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kQuietFor;
};

}  // namespace tidemark::cmd
