#pragma once
// A store in memory: what it holds outlives an engine, as a disk would, and it fails when told to.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"

namespace tidemark::testing {

/// Thread-safe, as Store is.
class MemoryStore final : public storage::Store {
 public:
  struct Checkpoint {
    storage::CheckpointInfo info;
    std::vector<std::string> blocks;
  };

  MemoryStore() {
    for (size_t i = 0; i < identity_.size(); ++i) identity_[i] = static_cast<unsigned char>(i * 7);
  }

  const storage::StoreIdentity& identity() const override { return identity_; }
  const storage::Options& options() const override { return options_; }

  Result<uint64_t> Append(std::span<const std::string_view> records) override {
    const std::scoped_lock lock(mutex_);
    if (refuse_appends) return Fail(ErrorCode::kIo, "no space left on device");
    const uint64_t first = last_ + 1;
    for (const std::string_view record : records) {
      journal_.emplace_back(++last_, std::string(record));
    }
    return first;
  }
  uint64_t LastNumber() const override {
    const std::scoped_lock lock(mutex_);
    return last_;
  }
  Result<storage::ReplayOutcome> Replay(
      uint64_t after,
      const std::function<Result<void>(uint64_t, std::string_view)>& take) override {
    const auto journal = Records();
    storage::ReplayOutcome outcome;
    outcome.last_number = after;
    for (const auto& [number, record] : journal) {
      if (number <= after) continue;
      if (auto taken = take(number, record); !taken) return tl::unexpected(taken.error());
      ++outcome.records;
      outcome.last_number = number;
    }
    return outcome;
  }
  Result<void> Trim(uint64_t number) override {
    const std::scoped_lock lock(mutex_);
    if (refuse_trims) return Fail(ErrorCode::kIo, "no space left on device");
    std::erase_if(journal_, [number](const auto& one) { return one.first <= number; });
    trimmed_ = std::max(trimmed_, number);
    return {};
  }
  storage::JournalInfo Journal() const override {
    const std::scoped_lock lock(mutex_);
    return {.first_number = journal_.empty() ? 0 : journal_.front().first,
            .last_number = last_,
            .trimmed = trimmed_};
  }

  Result<std::unique_ptr<storage::CheckpointWriter>> BeginCheckpoint(
      uint64_t journal_number) override {
    if (refuse_checkpoints) return Fail(ErrorCode::kIo, "no space left on device");
    return std::make_unique<Writer>(*this, journal_number);
  }
  std::vector<storage::CheckpointInfo> Checkpoints() const override {
    const std::scoped_lock lock(mutex_);
    std::vector<storage::CheckpointInfo> infos;
    for (auto it = checkpoints_.rbegin(); it != checkpoints_.rend(); ++it) {
      infos.push_back(it->info);
    }
    return infos;
  }
  Result<storage::CheckpointInfo> ReadCheckpoint(
      uint64_t number, const std::function<Result<void>(std::string_view)>& take) const override {
    Checkpoint found;
    {
      const std::scoped_lock lock(mutex_);
      for (const Checkpoint& one : checkpoints_) {
        if (one.info.number == number) found = one;
      }
    }
    for (const std::string& block : found.blocks) {
      if (auto taken = take(block); !taken) return tl::unexpected(taken.error());
    }
    return found.info;
  }
  Result<void> SetAside(uint64_t number) override {
    const std::scoped_lock lock(mutex_);
    std::erase_if(checkpoints_, [&](const auto& one) { return one.info.number == number; });
    return {};
  }

  // For tests.
  std::vector<std::pair<uint64_t, std::string>> Records() const {
    const std::scoped_lock lock(mutex_);
    return journal_;
  }
  /// The newest of them is the last.
  std::vector<Checkpoint>& checkpoints() { return checkpoints_; }
  std::vector<std::pair<uint64_t, std::string>>& journal() { return journal_; }
  /// As the disk would be if the process ended now.
  std::unique_ptr<MemoryStore> Copy() const {
    const std::scoped_lock lock(mutex_);
    auto copy = std::make_unique<MemoryStore>();
    copy->journal_ = journal_;
    copy->last_ = last_;
    copy->trimmed_ = trimmed_;
    copy->checkpoints_ = checkpoints_;
    copy->next_checkpoint_ = next_checkpoint_;
    return copy;
  }

  std::atomic<bool> refuse_appends{false};
  std::atomic<bool> refuse_checkpoints{false};
  std::atomic<bool> refuse_trims{false};

 private:
  class Writer final : public storage::CheckpointWriter {
   public:
    Writer(MemoryStore& store, uint64_t journal_number) : store_(store) {
      checkpoint_.info.journal_number = journal_number;
    }
    Result<void> Add(std::string_view block) override {
      checkpoint_.blocks.emplace_back(block);
      return {};
    }
    Result<storage::CheckpointInfo> Finish() override {
      const std::scoped_lock lock(store_.mutex_);
      checkpoint_.info.number = store_.next_checkpoint_++;
      checkpoint_.info.created_ms = 1;
      checkpoint_.info.blocks = checkpoint_.blocks.size();
      store_.checkpoints_.push_back(checkpoint_);
      if (store_.checkpoints_.size() > 2) store_.checkpoints_.erase(store_.checkpoints_.begin());
      return checkpoint_.info;
    }

   private:
    MemoryStore& store_;
    Checkpoint checkpoint_;
  };

  storage::StoreIdentity identity_{};
  storage::Options options_;
  mutable std::mutex mutex_;
  std::vector<std::pair<uint64_t, std::string>> journal_;
  uint64_t last_ = 0;
  uint64_t trimmed_ = 0;
  std::vector<Checkpoint> checkpoints_;
  uint64_t next_checkpoint_ = 1;
};

}  // namespace tidemark::testing
