#include "engine/checkpointer.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "model/log.h"

namespace tidemark::engine {
namespace {

/// Blocks that a shard writes in one go: some milliseconds, in which its batches wait.
constexpr size_t kBytesAtOnce = 512U << 10;
/// After a failure the next attempt comes sooner, so that the journal does not grow for long.
constexpr int64_t kRetryMs = 15'000;
/// The least between two when there is no room.
constexpr int64_t kHurryMs = 2'000;
/// How often it is looked whether one is due.
constexpr int64_t kLookMs = 500;
/// Time between two, in durations of one.
constexpr int64_t kLoadFactor = 10;
/// Some four million samples, which are replayed in two seconds or three.
constexpr uint64_t kMaxJournalBytes = 128U << 20;

}  // namespace

Checkpointer::Checkpointer(Parts parts) : parts_(std::move(parts)) {}

Checkpointer::~Checkpointer() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Checkpointer::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Checkpointer::Hurry() {
  const std::scoped_lock lock(mutex_);
  hurried_ = true;
}

/// Whether the next one may begin, `waited_ms` after the last ended.
bool Checkpointer::IsDue(int64_t waited_ms, int64_t wait_ms) const {
  if (waited_ms >= wait_ms) return true;
  if (hurried_) return waited_ms >= kHurryMs;
  if (failed_) return false;
  // A checkpoint takes a core for a while: never more than a tenth of the time.
  const uint64_t bytes = parts_.counters.journal_payload_bytes.load() - bytes_at_last_.load();
  return bytes >= kMaxJournalBytes &&
         waited_ms >= kLoadFactor * parts_.counters.last_checkpoint_duration_ms_now.load();
}

void Checkpointer::Run() {
  int64_t wait_ms = parts_.interval_ms;
  auto ended = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait_for(lock, std::chrono::milliseconds(std::min(wait_ms, kLookMs)),
                   [this] { return stopping_; });
    if (stopping_) return;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - ended);
    if (!IsDue(waited.count(), wait_ms)) continue;
    hurried_ = false;
    lock.unlock();
    const bool written = Write().has_value();
    ended = std::chrono::steady_clock::now();
    wait_ms = written
                  ? std::max(parts_.interval_ms,
                             kLoadFactor * parts_.counters.last_checkpoint_duration_ms_now.load())
                  : std::min(parts_.interval_ms, kRetryMs);
    lock.lock();
    failed_ = !written;
  }
}

Result<void> Checkpointer::Write() {
  const std::scoped_lock one_at_a_time(writing_);
  const auto began = std::chrono::steady_clock::now();
  // Whatever was pushed up to here stands in the shards' queues before what follows.
  const uint64_t number = parts_.line.last_pushed();
  const uint64_t bytes = parts_.counters.journal_payload_bytes.load();
  if (IsUpToDate()) {
    // The last attempt at trimming may have failed for want of the very room that it gives back.
    Trim();
    return {};
  }
  const auto written = WriteBlocks(number);
  if (!written) {
    LogOncePerMinute("checkpoint", LogLevel::kError,
                     "a checkpoint could not be written; the journal is kept until one is",
                     {{"err", written.error().message}});
    return tl::unexpected(written.error());
  }
  bytes_at_last_ = bytes;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - began);
  parts_.counters.last_checkpoint_ms = written->created_ms;
  parts_.counters.last_checkpoint_bytes_now = static_cast<int64_t>(written->bytes);
  parts_.counters.last_checkpoint_duration_ms_now = took.count();
  Log(LogLevel::kDebug, "checkpoint written",
      {{"number", std::to_string(written->number)},
       {"journal_number", std::to_string(written->journal_number)},
       {"bytes", std::to_string(written->bytes)},
       {"duration_ms", std::to_string(took.count())}});
  Trim();
  return {};
}

void Checkpointer::Trim() {
  // The older of two must be good for a recovery too.
  const auto kept = parts_.store.Checkpoints();
  if (kept.size() < 2) return;
  uint64_t needed_after = kept.front().journal_number;
  for (const storage::CheckpointInfo& one : kept) {
    needed_after = std::min(needed_after, one.journal_number);
  }
  if (auto trimmed = parts_.store.Trim(needed_after); !trimmed) {
    LogOncePerMinute("trim", LogLevel::kWarn, "the journal could not be trimmed",
                     {{"err", trimmed.error().message}});
  }
}

/// The journal has to be trimmed as far as the newest reaches, which takes two.
bool Checkpointer::IsUpToDate() const {
  const auto kept = parts_.store.Checkpoints();
  return kept.size() >= 2 && kept.back().journal_number == parts_.line.last_pushed();
}

Result<storage::CheckpointInfo> Checkpointer::WriteBlocks(uint64_t number) {
  auto writer = parts_.store.BeginCheckpoint(number);
  if (!writer) return tl::unexpected(writer.error());
  if (auto added = (*writer)->Add(parts_.head()); !added) return tl::unexpected(added.error());
  for (const auto& shard : parts_.shards) {
    size_t next = 0;
    for (bool more = true; more;) {
      std::vector<std::string> blocks;
      std::promise<bool> saved;
      shard->Post(
          [&](Shard& self) { saved.set_value(self.Save(next, number, kBytesAtOnce, blocks)); });
      more = saved.get_future().get();
      for (const std::string& block : blocks) {
        if (auto added = (*writer)->Add(block); !added) return tl::unexpected(added.error());
      }
    }
  }
  return (*writer)->Finish();
}

}  // namespace tidemark::engine
