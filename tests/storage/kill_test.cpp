// `kill -9` at any moment: whatever was acknowledged is there afterwards, in order.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "tests/storage/fixture.h"
#include "tests/storage/numbered_record.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace tidemark::storage {
namespace {

/// A process that appends until it is killed.
class Child {
 public:
  Child(const std::string& directory, const std::string& sync, int seed) {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    out_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string program = TIDEMARK_APPEND_CHILD;
    std::string path = directory;
    std::string mode = sync;
    std::string number = std::to_string(seed);
    char* arguments[] = {program.data(), path.data(), mode.data(), number.data(), nullptr};
    REQUIRE(posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
  }
  ~Child() {
    Kill();
    close(out_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Until it has acknowledged `lines` groups, or has ended.
  void WaitForLines(size_t lines) {
    while (static_cast<size_t>(std::count(said_.begin(), said_.end(), '\n')) < lines) {
      if (!ReadSome()) return;
    }
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    REQUIRE(waitpid(pid_, &status_, 0) == pid_);
    pid_ = 0;
    while (ReadSome()) {
    }
  }
  /// True when it ran until it was killed.
  bool RanOn() const { return WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL; }
  /// The last number of which it said that it is safe; 0: none.
  uint64_t Acknowledged() const {
    const size_t end = said_.rfind('\n');
    if (end == std::string::npos) return 0;
    const size_t begin = said_.rfind("acknowledged ", end);
    return std::strtoull(said_.c_str() + begin + sizeof "acknowledged", nullptr, 10);
  }

 private:
  bool ReadSome() {
    char buffer[4096];
    const ssize_t got = read(out_, buffer, sizeof buffer);
    if (got > 0) said_.append(buffer, static_cast<size_t>(got));
    return got > 0;
  }

  pid_t pid_ = 0;
  int out_ = -1;
  int status_ = 0;
  std::string said_;
};

TEST_CASE("every acknowledged record is there after each of 30 kills", "[storage][kill]") {
  const std::string sync = GENERATE("always", "interval");
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  std::mt19937 random(sync == "always" ? 4711 : 4712);
  uint64_t acknowledged = 0;
  uint64_t trimmed = 0;
  int with_news = 0;
  for (int kill = 0; kill < 30; ++kill) {
    CAPTURE(sync, kill);
    Child child(folder.In("data"), sync, kill);
    // Some die while they open the store, most somewhere in their work.
    if (kill % 10 == 9) {
      // A time at random is what is wanted here, not one that is long enough for something.
      poll(nullptr, 0, static_cast<int>(random() % 30));
    } else {
      child.WaitForLines(1 + random() % 200);
    }
    child.Kill();
    REQUIRE(child.RanOn());
    with_news += child.Acknowledged() > acknowledged;
    acknowledged = std::max(acknowledged, child.Acknowledged());

    fixture.Open();
    const Records records = fixture.Replay();
    REQUIRE(fixture.outcome.damage.empty());
    REQUIRE(fixture.counters->journal_records_dropped == 0);
    REQUIRE(fixture.store->LastNumber() >= acknowledged);
    if (acknowledged > 0) REQUIRE_FALSE(records.empty());
    // Whole and in order from the first that was not trimmed, and that only as far as checkpoints
    // reach.
    uint64_t expected = records.empty() ? 0 : records.front().first;
    for (const auto& [number, text] : records) {
      REQUIRE(number == expected++);
      REQUIRE(text == NumberedRecord(number));
    }
    if (!records.empty()) REQUIRE(records.back().first == fixture.store->LastNumber());
    const auto checkpoints = fixture.store->Checkpoints();
    const uint64_t held = checkpoints.empty() ? 0 : checkpoints.back().journal_number;
    if (!records.empty()) {
      REQUIRE(records.front().first <= held + 1);
      REQUIRE(records.front().first >= trimmed);
      trimmed = records.front().first;
    }
    for (const CheckpointInfo& checkpoint : checkpoints) {
      REQUIRE(fixture.Blocks(checkpoint.number).value() ==
              std::vector<std::string>{std::to_string(checkpoint.journal_number)});
    }
    // What was never acknowledged may have come through whole: it counts from now on.
    acknowledged = fixture.store->LastNumber();
    fixture.store.reset();
  }
  CHECK(with_news >= 20);
  CHECK(trimmed > 1);
}

TEST_CASE("a reader beside a process that appends, trims and writes checkpoints sees whole records",
          "[storage][kill]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture reader(folder.In("data"));
  reader.options.read_only = true;
  Child child(folder.In("data"), "interval", 99);
  child.WaitForLines(300);
  uint64_t last = 0;
  for (int look = 0; look < 30; ++look) {
    CAPTURE(look);
    reader.Open();
    const Records records = reader.Replay();
    REQUIRE(reader.outcome.damage.empty());
    REQUIRE_FALSE(records.empty());
    uint64_t expected = records.front().first;
    for (const auto& [number, text] : records) {
      REQUIRE(number == expected++);
      REQUIRE(text == NumberedRecord(number));
    }
    REQUIRE(records.back().first >= last);
    last = records.back().first;
    reader.store.reset();
  }
  child.Kill();
  CHECK(child.RanOn());
  CHECK(last >= 300);
}

}  // namespace
}  // namespace tidemark::storage
