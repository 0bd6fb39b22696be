#include "exporter/process_stats.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/catch.h"
#include "tests/exporter/temporary_folder.h"

using namespace tidemark::exporter;

TEST_CASE("the kernel's files are read whatever the program is called", "[exporter][process]") {
  const TemporaryFolder folder;
  const std::filesystem::path& proc = folder.path();
  std::filesystem::create_directories(proc / "self/fd");
  for (const char* fd : {"0", "1", "2"}) std::ofstream(proc / "self/fd" / fd) << "";
  // utime 250, stime 50, starttime 12345, vsize 1000000, rss 20
  std::ofstream(proc / "self/stat")
      << "7 (a) (b c) S 1 2 3 0 -1 4194304 10 11 12 13 250 50 16 17 20 0 4 0 12345 1000000 20 "
         "18446744073709551615 1 1";
  std::ofstream(proc / "stat") << "cpu  1 2 3\nintr 5 6\nbtime 1700000000\nprocesses 9\n";
  const ProcessStats stats = ReadProcessStats(proc.string());
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  CHECK(stats.cpu_seconds.value() == 300 / ticks);
  CHECK(stats.open_fds.value() == 3);
  CHECK(stats.virtual_memory_bytes.value() == 1000000);
  CHECK(stats.resident_memory_bytes.value() == 20.0 * static_cast<double>(sysconf(_SC_PAGESIZE)));
  CHECK(stats.start_time_seconds.value() == 1700000000 + 12345 / ticks);
}

TEST_CASE("what cannot be read is absent", "[exporter][process]") {
  const TemporaryFolder folder;
  const ProcessStats nothing = ReadProcessStats((folder.path() / "none").string());
  CHECK_FALSE(nothing.cpu_seconds.has_value());
  CHECK_FALSE(nothing.open_fds.has_value());
  CHECK_FALSE(nothing.start_time_seconds.has_value());
  CHECK(nothing.max_fds.has_value());

  std::filesystem::create_directories(folder.path() / "self");
  for (const char* text : {"", "7 (x", "7 (x) S 1 2 3", "7 (x) S one two"}) {
    std::ofstream(folder.path() / "self/stat") << text;
    CHECK_FALSE(ReadProcessStats(folder.path().string()).cpu_seconds.has_value());
  }
}

TEST_CASE("this process has sensible numbers", "[exporter][process]") {
  const ProcessStats stats = ReadProcessStats();
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  CHECK(stats.cpu_seconds.value() >= 0);
  CHECK(stats.open_fds.value() >= 3);
  CHECK(stats.max_fds.value() >= stats.open_fds.value());
  CHECK(stats.resident_memory_bytes.value() > 100000);
  CHECK(stats.virtual_memory_bytes.value() >= stats.resident_memory_bytes.value());
  CHECK(stats.virtual_memory_max_bytes.value() > 0);
  CHECK(stats.start_time_seconds.value() <= now + 1);
  CHECK(stats.start_time_seconds.value() > 1e9);
}
