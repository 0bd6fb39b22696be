#pragma once
// What the kernel says about this process, for the process_* metrics that every Prometheus client
// gives.

#include <optional>
#include <string>

namespace tidemark::exporter {

/// A value that could not be read is absent.
struct ProcessStats {
  std::optional<double> cpu_seconds;  ///< user and system
  std::optional<double> open_fds;     ///< with the one that counts them
  std::optional<double> max_fds;      ///< soft limit
  std::optional<double> virtual_memory_bytes;
  std::optional<double>
      virtual_memory_max_bytes;  ///< soft limit; no limit is 2^64, as in other clients
  std::optional<double> resident_memory_bytes;
  std::optional<double> start_time_seconds;  ///< Unix time
};

/// Reads self/stat, self/fd and stat below `proc` (proc(5)), and the limits of this process.
/// Thread-safe.
ProcessStats ReadProcessStats(const std::string& proc = "/proc");

}  // namespace tidemark::exporter
