#include "engine/commit_line.h"

#include <utility>
#include <vector>

namespace tidemark::engine {
namespace {

/// Bytes that one group may have: who comes later waits for the next.
constexpr size_t kMaxGroupBytes = 32U << 20;

}  // namespace

CommitLine::CommitLine(storage::Store* store, std::function<void()> refused)
    : store_(store), refused_(std::move(refused)) {}

Result<void> CommitLine::Commit(std::string_view record,
                                const std::function<void(uint64_t)>& push) {
  if (store_ == nullptr) {
    push(0);
    return {};
  }
  Waiter self{record, &push};
  std::unique_lock lock(mutex_);
  line_.push_back(&self);
  self.wake.wait(lock, [&] { return self.done || (!writing_ && line_.front() == &self); });
  if (self.done) return std::move(self.outcome);
  writing_ = true;
  std::deque<Waiter*> group;
  for (size_t bytes = 0; !line_.empty() && bytes < kMaxGroupBytes; line_.pop_front()) {
    bytes += line_.front()->record.size();
    group.push_back(line_.front());
  }
  lock.unlock();
  CommitGroup(group);
  lock.lock();
  writing_ = false;
  for (Waiter* const waiter : group) {
    waiter->done = true;
    if (waiter != &self) waiter->wake.notify_one();  // under the lock: it ends with the waiter
  }
  if (!line_.empty()) line_.front()->wake.notify_one();
  return std::move(self.outcome);
}

void CommitLine::CommitGroup(std::deque<Waiter*>& group) {
  std::vector<std::string_view> records;
  records.reserve(group.size());
  for (const Waiter* const waiter : group) records.push_back(waiter->record);
  const auto first = store_->Append(records);
  if (!first) {
    for (Waiter* const waiter : group) {
      waiter->outcome = Fail(ErrorCode::kIo, first.error().message);
    }
    refused_();
    return;
  }
  uint64_t number = *first;
  for (Waiter* const waiter : group) (*waiter->push)(number++);
  last_pushed_.store(number - 1, std::memory_order_release);
}

}  // namespace tidemark::engine
