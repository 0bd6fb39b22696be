#pragma once
// SIGINT and SIGTERM for programs that end in good order.

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigwait is POSIX

#include <chrono>

namespace tidemark::cmd {

/// Holds the two back for as long as it lives, for this thread and those that it starts; one thread
/// asks for them.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    sigaddset(&held_, SIGINT);
    sigaddset(&held_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Returns when one has come.
  void Wait() const {
    int signal = 0;
    sigwait(&held_, &signal);
  }
  /// Waits no longer than `timeout`, which is below a second; true when one has come.
  bool WaitFor(std::chrono::milliseconds timeout) const {
    const timespec time{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(timeout).count()};
    return sigtimedwait(&held_, nullptr, &time) > 0;
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

}  // namespace tidemark::cmd
