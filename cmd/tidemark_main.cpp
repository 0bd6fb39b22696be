// tidemark: the daemon.

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigwait is POSIX

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cmd/build_info.h"
#include "cmd/config.h"
#include "cmd/daemon.h"
#include "cmd/flags.h"
#include "model/log.h"

namespace tidemark::cmd {
namespace {

/// Signals are taken by sigwait on the main thread alone: blocked before any thread starts, so that
/// all inherit it.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a peer that goes away is an error of its socket
  return signals;
}

/// Waits for the signal that ends the program; reads files again on SIGHUP.
int WaitForEnd(const sigset_t& signals, Daemon& daemon) {
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal != SIGHUP) return signal;
    static_cast<void>(daemon.Reload());  // the log says what came of it
  }
}

int Main(const std::vector<std::string>& args) {
  const auto flags = ParseFlags(args);
  if (!flags) return ReportUsageError("tidemark", flags.error());
  if (flags->answer) {
    fmt::print("{}", *flags->answer);
    return 0;
  }
  Config config;
  if (!flags->config_file.empty()) {
    auto loaded = LoadConfig(flags->config_file);
    if (!loaded) return ReportUsageError("tidemark", loaded.error());
    config = std::move(*loaded);
  }
  ConfigureLog(flags->log_level, flags->log_format);
  const sigset_t signals = BlockSignals();
  const BuildInfo& build = ThisBuild();
  Log(LogLevel::kInfo, "starting tidemark",
      {{"version", std::string(build.version)},
       {"revision", std::string(build.revision)},
       {"config", flags->config_file.empty() ? "built-in" : flags->config_file},
       {"storage", flags->storage_path},
       {"sync", flags->storage_sync == storage::SyncMode::kAlways ? "always" : "interval"}});
  if (flags->storage_path.empty()) {
    Log(LogLevel::kWarn, "nothing is kept on disk: a restart begins without history");
  }
  auto daemon = Daemon::Start(*flags, config);
  if (!daemon && daemon.error().code == ErrorCode::kInvalidArgument) {
    return ReportUsageError("tidemark", daemon.error());
  }
  if (!daemon) {
    Log(LogLevel::kError, "cannot start", {{"err", daemon.error().message}});
    return 1;
  }
  Log(LogLevel::kInfo, "listening", {{"address", (*daemon)->address()}});
  const int signal = WaitForEnd(signals, **daemon);
  Log(LogLevel::kInfo, "stopping", {{"signal", strsignal(signal)}});
  (*daemon)->Stop();
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

}  // namespace
}  // namespace tidemark::cmd

int main(int argc, char** argv) {
  return tidemark::cmd::Main(std::vector<std::string>(argv + 1, argv + argc));
}
