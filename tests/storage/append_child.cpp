// Appends numbered records to a store and says after each group, on stdout, up to which number they
// are acknowledged; trims and writes checkpoints now and then. Until it is killed.
//   append_child DIRECTORY always|interval SEED

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/clock.h"
#include "model/counters.h"
#include "storage/store.h"
#include "tests/storage/numbered_record.h"

int main(int argc, char** argv) {
  using namespace tidemark;
  if (argc != 4) return 2;
  storage::Options options;
  options.path = argv[1];
  options.sync = std::string_view(argv[2]) == "always" ? storage::SyncMode::kAlways
                                                       : storage::SyncMode::kInterval;
  options.sync_interval_ms = 10;
  options.min_free_bytes = 1 << 20;
  const SystemClock clock;
  StorageCounters counters;
  auto store = storage::Store::Open(options, clock, counters);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  std::mt19937 random(static_cast<uint32_t>(std::atoi(argv[3])));
  for (uint64_t round = 1;; ++round) {
    std::vector<std::string> group;
    const uint64_t next = (*store)->LastNumber() + 1;
    const uint64_t size = 1 + random() % 8;
    for (uint64_t i = 0; i < size; ++i) group.push_back(storage::NumberedRecord(next + i));
    const std::vector<std::string_view> views(group.begin(), group.end());
    const auto first = (*store)->Append(views);
    if (!first || *first != next) return 1;
    const std::string line = "acknowledged " + std::to_string(next + size - 1) + "\n";
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0) return 1;
    if (round % 64 == 0) {
      auto writer = (*store)->BeginCheckpoint((*store)->LastNumber());
      if (!writer || !(*writer)->Add(std::to_string((*store)->LastNumber()))) return 1;
      if (!(*writer)->Finish()) return 1;
      // Up to the older one of the two that are kept.
      const auto kept = (*store)->Checkpoints();
      if (!(*store)->Trim(kept.back().journal_number)) return 1;
    }
  }
}
