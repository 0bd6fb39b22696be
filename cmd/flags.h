#pragma once
// The daemon's flags. docs/configuration.md describes them.

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "cmd/command_line.h"
#include "cmd/kubernetes_flags.h"
#include "model/clock.h"
#include "model/log.h"
#include "model/result.h"
#include "storage/options.h"

namespace tidemark::cmd {

/// A wrong flag, argument or configuration ends a program with this code.
inline constexpr int kUsageExitCode = 2;

struct Flags {
  std::string config_file;                          ///< empty: the built-in configuration
  std::string web_listen_address = "0.0.0.0:9849";  ///< CheckListenAddress is happy with it
  std::string web_config_file;                      ///< empty: plain HTTP, open to all
  KubernetesFlags kubernetes;
  std::string storage_path = "./data";  ///< empty: nothing is kept
  storage::SyncMode storage_sync = storage::SyncMode::kAlways;
  std::chrono::milliseconds eval_interval{15'000};  ///< 100ms … 1h
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;
  std::optional<TimePoint> clock_start;  ///< absent: the machine's clock
  /// The text of --help or --version: print it to stdout and leave with 0; the other members are
  /// then unset.
  std::optional<std::string> answer;
};

/// Reads the arguments (without the program's name). An error is one line that names the flag and
/// what is allowed: print it to stderr with ReportUsageError and leave with kUsageExitCode.
Result<Flags> ParseFlags(std::span<const std::string> args);

/// What ParseFlags knows, for its help.
CommandSpec FlagsSpec();

/// `PROGRAM: error: MESSAGE` on stderr. Returns kUsageExitCode.
int ReportUsageError(std::string_view program, const Error& error);

}  // namespace tidemark::cmd
