#include "engine/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/checkpoint_block.h"
#include "engine/past_record.h"
#include "model/log.h"

namespace tidemark::engine {
namespace {

/// Bytes of blocks or records that may wait in the shards' queues.
constexpr int64_t kMaxWaitingBytes = 64 << 20;

constexpr std::string_view kAdvice =
    "; restore the directory from a copy, or move it away to begin without history";

/// Bounds what the shards still have to do. Thread-safe.
class Backlog {
 public:
  void Enter(int64_t bytes) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return waiting_ < kMaxWaitingBytes; });
    waiting_ += bytes;
  }
  void Leave(int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    waiting_ -= bytes;
    room_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_;
  int64_t waiting_ = 0;
};

/// The first error of several threads.
class FirstError {
 public:
  void Set(const Error& error) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = error;
  }
  Result<void> Get() const {
    const std::scoped_lock lock(mutex_);
    if (error_) return tl::unexpected(*error_);
    return {};
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

/// Present number of each saved source; kNoSource where the configuration has none like it any
/// more.
std::vector<uint16_t> MapSources(const CheckpointHead& head, const workloads::SourceTable& table) {
  std::vector<uint16_t> present(head.sources.size(), workloads::NamespaceState::kNoSource);
  for (size_t now = 0; now < table.size(); ++now) {
    const std::string fingerprint =
        Fingerprint(table.at(static_cast<uint16_t>(now)), table.resources());
    for (size_t i = 0; i < present.size(); ++i) {
      if (present[i] == workloads::NamespaceState::kNoSource && head.sources[i] == fingerprint) {
        present[i] = static_cast<uint16_t>(now);
        break;
      }
    }
  }
  return present;
}

}  // namespace

Result<uint64_t> Recovery::Run() {
  const auto began = std::chrono::steady_clock::now();
  if (const storage::JournalInfo journal = parts_.store.Journal(); journal.last_number > 0) {
    Log(LogLevel::kInfo, "recovering state",
        {{"checkpoints", std::to_string(parts_.store.Checkpoints().size())},
         {"journal_bytes", std::to_string(journal.bytes)}});
  }
  auto after = LoadCheckpoint();
  if (!after) return after;
  const auto loaded = std::chrono::steady_clock::now();
  const auto replayed = parts_.store.Replay(
      *after,
      [this](uint64_t number, std::string_view record) { return ReplayRecord(number, record); });
  WaitForShards();
  if (!replayed) return tl::unexpected(replayed.error());
  parts_.counters.recovered_records = replayed->records;
  const auto ms = [](auto span) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
  };
  const auto ended = std::chrono::steady_clock::now();
  parts_.counters.recovery_duration_ms_now = ms(ended - began);
  if (*after > 0 || replayed->records > 0) {
    Log(LogLevel::kInfo, "state recovered",
        {{"checkpoint_ms", std::to_string(ms(loaded - began))},
         {"journal_ms", std::to_string(ms(ended - loaded))},
         {"records", std::to_string(replayed->records)}});
  }
  return std::max(*after, parts_.store.LastNumber());
}

/// Answers the record after which the journal goes on.
Result<uint64_t> Recovery::LoadCheckpoint() {
  const auto checkpoints = parts_.store.Checkpoints();
  const storage::JournalInfo journal = parts_.store.Journal();
  std::vector<uint64_t> damaged;
  std::string damage;
  std::optional<uint64_t> good;
  for (const storage::CheckpointInfo& checkpoint : checkpoints) {
    const auto restored = RestoreFrom(checkpoint);
    if (restored && checkpoint.journal_number < journal.trimmed) {
      return Fail(ErrorCode::kIo,
                  fmt::format("{}: checkpoint {} reaches to record {}, but the journal goes on "
                              "behind record {}: a newer checkpoint is missing{}",
                              parts_.store.options().path, checkpoint.number,
                              checkpoint.journal_number, journal.trimmed, kAdvice));
    }
    if (restored) {
      good = checkpoint.journal_number;
      break;
    }
    for (const auto& shard : parts_.shards) shard->Post([](Shard& self) { self.Clear(); });
    WaitForShards();
    Log(LogLevel::kError, "a checkpoint is damaged; the one before is tried",
        {{"checkpoint", std::to_string(checkpoint.number)}, {"err", restored.error().message}});
    parts_.counters.checkpoints_damaged.fetch_add(1);
    damaged.push_back(checkpoint.number);
    damage = restored.error().message;
  }
  // The journal alone will do where nothing was ever trimmed from it.
  const bool whole_journal = journal.first_number == 1;
  if (!good && !damaged.empty() && !whole_journal) {
    return Fail(ErrorCode::kIo, parts_.store.options().path + ": no checkpoint can be read (" +
                                    damage + ")" + std::string(kAdvice));
  }
  // A journal that was trimmed may be empty.
  if (!good && (journal.first_number > 1 || journal.trimmed > 0)) {
    return Fail(ErrorCode::kIo,
                fmt::format("{}: the journal goes on behind record {}, but the checkpoint that "
                            "holds those before is missing{}",
                            parts_.store.options().path,
                            std::max(journal.first_number, journal.trimmed + 1) - 1, kAdvice));
  }
  for (const uint64_t number : damaged) {
    if (parts_.store.options().read_only) break;
    if (auto aside = parts_.store.SetAside(number); !aside) {
      Log(LogLevel::kError, "a damaged checkpoint could not be set aside",
          {{"err", aside.error().message}});
    }
  }
  return good.value_or(0);
}

Result<void> Recovery::RestoreFrom(const storage::CheckpointInfo& checkpoint) {
  std::optional<std::vector<uint16_t>> sources;
  Backlog backlog;
  FirstError first_error;
  std::string cursor;
  const auto read =
      parts_.store.ReadCheckpoint(checkpoint.number, [&](std::string_view block) -> Result<void> {
        if (auto failed = first_error.Get(); !failed) return failed;
        if (!sources) {
          auto head = DecodeHead(block);
          if (!head) return tl::unexpected(head.error());
          sources = MapSources(*head, parts_.addressing.sources);
          cursor = std::move(head->past_cursor);
          return {};
        }
        const auto head = DecodeNamespaceHead(block);
        if (!head) return tl::unexpected(head.error());
        const auto bytes = static_cast<int64_t>(block.size());
        backlog.Enter(bytes);
        parts_.shards[head->name_space % parts_.shards.size()]->Post(
            [&, bytes, copy = std::string(block)](Shard& shard) {
              const auto saved = DecodeNamespaceHead(copy);
              if (auto restored = shard.Restore(*saved, *sources); !restored) {
                first_error.Set(restored.error());
              }
              backlog.Leave(bytes);
            });
        return {};
      });
  WaitForShards();
  if (!read) return tl::unexpected(read.error());
  if (auto failed = first_error.Get(); !failed) return failed;
  if (!sources) return Fail(ErrorCode::kIo, "a checkpoint without a head");
  parts_.past_cursor(cursor);
  return {};
}

Result<void> Recovery::ReplayRecord(uint64_t number, std::string_view record) {
  switch (KindOf(record)) {
    case RecordKind::kWrite: return ReplayWrite(number, record);
    case RecordKind::kAgeing: {
      const auto ageing = DecodeAgeing(record);
      if (!ageing) return tl::unexpected(ageing.error());
      parts_.shards[ageing->name_space % parts_.shards.size()]->Post(
          [ageing = *ageing, number](Shard& shard) { shard.Age(ageing, number); });
      return {};
    }
    case RecordKind::kRestart: {
      const auto now_ms = DecodeRestart(record);
      if (!now_ms) return tl::unexpected(now_ms.error());
      for (const auto& shard : parts_.shards) {
        shard->Post([now_ms = *now_ms, number](Shard& self) { self.RestartAsVpa(now_ms, number); });
      }
      return {};
    }
    case RecordKind::kModel: {
      const auto model = DecodeModel(record);
      if (!model) return tl::unexpected(model.error());
      parts_.shards[model->name_space % parts_.shards.size()]->Post(
          [copy = std::string(record), number](Shard& shard) {
            // Decodes as it did a moment ago; its texts point into the copy.
            if (const auto again = DecodeModel(copy))
              static_cast<void>(shard.Activate(*again, number));
          });
      return {};
    }
    case RecordKind::kFirstPast:
    case RecordKind::kPast: {
      auto past = PastRecord::Decode(std::string(record), parts_.addressing.sources.resources());
      if (!past) return tl::unexpected(past.error());
      parts_.past_cursor((*past)->cursor());
      for (const PastRecord::Namespace& one : (*past)->namespaces()) {
        parts_.shards[one.hash % parts_.shards.size()]->Post(
            [past = *past, &one, number](Shard& shard) { past->Merge(one, shard, number); });
      }
      return {};
    }
    case RecordKind::kPastCursor: {
      const auto cursor = DecodePastCursor(record);
      if (!cursor) return tl::unexpected(cursor.error());
      parts_.past_cursor(*cursor);
      return {};
    }
  }
  return Fail(ErrorCode::kInvalidArgument,
              "journal record " + std::to_string(number) + " is of an unknown kind");
}

Result<void> Recovery::ReplayWrite(uint64_t number, std::string_view record) {
  // The label bytes of the batches point into it.
  const auto owned = std::make_shared<const std::string>(record);
  std::vector<workloads::SeriesBatch> batches(parts_.shards.size());
  for (workloads::SeriesBatch& batch : batches) batch = parts_.pool.Take();
  if (auto decoded = decoder_.Decode(*owned, batches); !decoded) return decoded;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].items.empty()) {
      parts_.pool.Give(std::move(batches[i]));
      continue;
    }
    parts_.budget.Take(PlacesTaken(batches[i]));
    Shard& shard = *parts_.shards[i];
    shard.ReserveForReplay();
    shard.Replay(std::move(batches[i]), number,
                 [owned, &counters = parts_.counters](const BatchOutcome& outcome) {
                   counters.missed_series.fetch_add(outcome.missed.items.size());
                 });
  }
  return {};
}

void Recovery::WaitForShards() const {
  std::vector<std::promise<void>> reached(parts_.shards.size());
  for (size_t i = 0; i < reached.size(); ++i) {
    parts_.shards[i]->Post([&reached, i](Shard&) { reached[i].set_value(); });
  }
  for (auto& one : reached) one.get_future().wait();
}

}  // namespace tidemark::engine
