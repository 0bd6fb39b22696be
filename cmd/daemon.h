#pragma once
// The daemon: the rooms, connected.

#include <memory>
#include <string>

#include "cmd/config.h"
#include "cmd/flags.h"
#include "model/result.h"

namespace tidemark::cmd {

class Daemon {
 public:
  /// Starts everything and listens. Errors name what could not be started; kInvalidArgument is the
  /// operator's (the web configuration or a file that it names is wrong).
  static Result<std::unique_ptr<Daemon>> Start(const Flags& flags, const Config& config);
  /// As Stop.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Where it listens, with the true port.
  std::string address() const;

  /// Reads the configuration again (cmd/reload.h), and the web configuration, certificates and
  /// tokens, changed or not. What is not good leaves the old in force, and the log says why.
  /// Thread-safe. kUnavailable while the daemon is not ready.
  Result<void> Reload();

  /// Takes no new requests, answers those in flight, applies what was taken in. Idempotent.
  void Stop();

 private:
  struct Ground;
  class Impl;
  explicit Daemon(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::cmd
