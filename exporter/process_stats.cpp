#include "exporter/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace tidemark::exporter {
namespace {

// Positions in /proc/PID/stat counted from the field after the program's name, which is field 3 of
// proc(5).
constexpr size_t kUserTicks = 14 - 3;
constexpr size_t kSystemTicks = 15 - 3;
constexpr size_t kStartTicks = 22 - 3;
constexpr size_t kVirtualBytes = 23 - 3;
constexpr size_t kResidentPages = 24 - 3;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The numbers after the name; the first, a letter, as 0. Empty when the file is not as expected.
std::vector<double> ReadStatFields(const std::string& path) {
  const std::string text = ReadFile(path);
  // The name stands in parentheses and may itself hold blanks and parentheses.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  std::string state;
  rest >> state;
  std::vector<double> fields = {0};
  for (double field = 0; rest >> field;) fields.push_back(field);
  if (fields.size() <= kResidentPages) return {};
  return fields;
}

std::optional<double> ReadBootTime(const std::string& path) {
  std::istringstream text(ReadFile(path));
  for (std::string key; text >> key;) {
    double seconds = 0;
    if (key == "btime" && text >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<double> CountEntries(const std::string& path) {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    ++count;
  }
  if (error) return std::nullopt;
  return count;
}

std::optional<double> SoftLimit(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

ProcessStats ReadProcessStats(const std::string& proc) {
  ProcessStats stats;
  stats.open_fds = CountEntries(proc + "/self/fd");
  stats.max_fds = SoftLimit(RLIMIT_NOFILE);
  stats.virtual_memory_max_bytes = SoftLimit(RLIMIT_AS);
  const std::vector<double> fields = ReadStatFields(proc + "/self/stat");
  if (fields.empty()) return stats;
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  stats.cpu_seconds = (fields[kUserTicks] + fields[kSystemTicks]) / ticks_per_second;
  stats.virtual_memory_bytes = fields[kVirtualBytes];
  stats.resident_memory_bytes = fields[kResidentPages] * page_bytes;
  if (const std::optional<double> boot = ReadBootTime(proc + "/stat")) {
    stats.start_time_seconds = *boot + fields[kStartTicks] / ticks_per_second;
  }
  return stats;
}

}  // namespace tidemark::exporter
