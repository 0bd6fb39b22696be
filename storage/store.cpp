#include "storage/store.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "model/log.h"
#include "storage/checkpoint_files.h"
#include "storage/checkpoint_reader.h"
#include "storage/checkpoint_writer.h"
#include "storage/files.h"
#include "storage/home.h"
#include "storage/journal.h"

namespace tidemark::storage {
namespace {

class DirectoryStore final : public Store {
 public:
  DirectoryStore(Options options, const Clock& clock, StorageCounters& counters, Home home,
                 std::unique_ptr<storage::Journal> journal)
      : options_(std::move(options)),
        clock_(clock),
        counters_(counters),
        home_(std::move(home)),
        journal_(std::move(journal)) {}

  const StoreIdentity& identity() const override { return home_.identity; }
  const Options& options() const override { return options_; }
  uint32_t format() const override { return home_.format; }

  Result<uint64_t> Append(std::span<const std::string_view> records) override {
    if (options_.read_only) return tl::unexpected(ReadOnly());
    return journal_->Append(records);
  }
  uint64_t LastNumber() const override { return journal_->LastNumber(); }
  Result<ReplayOutcome> Replay(
      uint64_t after,
      const std::function<Result<void>(uint64_t, std::string_view)>& take) override {
    return journal_->Replay(after, take);
  }
  Result<void> Trim(uint64_t number) override {
    if (options_.read_only) return tl::unexpected(ReadOnly());
    return journal_->Trim(number);
  }
  JournalInfo Journal() const override { return journal_->Info(); }

  Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(uint64_t journal_number) override {
    if (options_.read_only) return tl::unexpected(ReadOnly());
    if (writing_.exchange(true)) {
      return Fail(ErrorCode::kUnavailable,
                  options_.path + ": a checkpoint is being written, allowed: one at a time");
    }
    return BeginCheckpointFile({.directory = options_.path,
                                .journal_number = journal_number,
                                .created_ms = ToUnixMs(clock_.Now()),
                                .last_record = [this] { return journal_->LastNumber(); },
                                .counters = &counters_,
                                .done = [this] { writing_.store(false); }});
  }

  std::vector<CheckpointInfo> Checkpoints() const override {
    std::vector<CheckpointInfo> all;
    for (const uint64_t number : CheckpointNumbers(options_.path)) {
      const auto summary = SummarizeCheckpoint(CheckpointPath(options_.path, number));
      // Removed since the directory was read: a newer one has taken its place.
      if (!summary && summary.error().code == ErrorCode::kNotFound) continue;
      all.push_back(summary ? summary->info : CheckpointInfo{.number = number});
    }
    return all;
  }

  Result<CheckpointInfo> ReadCheckpoint(
      uint64_t number, const std::function<Result<void>(std::string_view)>& take) const override {
    auto info = ReadCheckpointFile(CheckpointPath(options_.path, number), take);
    if (info && info->number != number) {
      return Fail(ErrorCode::kIo, CheckpointPath(options_.path, number) + ": is the checkpoint " +
                                      std::to_string(info->number) + " under another name");
    }
    return info;
  }

  Result<void> SetAside(uint64_t number) override {
    if (options_.read_only) return tl::unexpected(ReadOnly());
    const std::string path = CheckpointPath(options_.path, number);
    if (auto renamed = RenameDurably(path, path + ".damaged"); !renamed) return renamed;
    return RemoveOldCheckpoints(options_.path);
  }

 private:
  Error ReadOnly() const {
    return {ErrorCode::kInvalidArgument, options_.path + ": is open for reading only"};
  }

  const Options options_;
  const Clock& clock_;
  StorageCounters& counters_;
  Home home_;
  const std::unique_ptr<storage::Journal> journal_;
  std::atomic<bool> writing_{false};
};

std::string WithoutLastSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// The highest record of which a checkpoint may hold something.
uint64_t HighestRecordInCheckpoints(const std::string& directory) {
  uint64_t highest = 0;
  for (const uint64_t number : CheckpointNumbers(directory)) {
    const auto summary = SummarizeCheckpoint(CheckpointPath(directory, number));
    if (summary) highest = std::max(highest, summary->trailer.highest_record);
  }
  return highest;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::Open(const Options& options, const Clock& clock,
                                           StorageCounters& counters) {
  Options own = options;
  own.path = WithoutLastSlashes(own.path);
  auto home = EnterHome(own);
  if (!home) return tl::unexpected(home.error());
  if (!own.read_only) {
    if (auto removed = RemoveOldCheckpoints(own.path); !removed) {
      return tl::unexpected(removed.error());
    }
  }
  auto journal = Journal::Open(own, !home->made, HighestRecordInCheckpoints(own.path), counters);
  if (!journal) return tl::unexpected(journal.error());
  const bool is_older = home->format < kFormatVersion && !own.read_only;
  if (!home->made || is_older) {
    if (auto complete = CompleteHome(own.path); !complete) {
      return tl::unexpected(complete.error());
    }
    home->format = kFormatVersion;
  }
  return std::make_unique<DirectoryStore>(std::move(own), clock, counters, std::move(*home),
                                          std::move(*journal));
}

}  // namespace tidemark::storage
