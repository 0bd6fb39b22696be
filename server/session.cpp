#include "server/session.h"

namespace tidemark::server {

void SessionRegistry::Add(const std::shared_ptr<Session>& session) {
  const std::lock_guard lock(mutex_);
  sessions_.emplace(session.get(), session);
}

void SessionRegistry::Remove(const Session* session) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(session);
  if (sessions_.empty()) emptied_.notify_all();
}

size_t SessionRegistry::size() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

std::vector<std::shared_ptr<Session>> SessionRegistry::All() const {
  // The last reference to a session must not be dropped under the mutex: its destructor comes back
  // to Remove.
  std::vector<std::shared_ptr<Session>> all;
  const std::lock_guard lock(mutex_);
  all.reserve(sessions_.size());
  for (const auto& [key, weak] : sessions_) {
    if (std::shared_ptr<Session> session = weak.lock()) all.push_back(std::move(session));
  }
  return all;
}

bool SessionRegistry::EvictLongestIdle() const {
  const std::vector<std::shared_ptr<Session>> all = All();
  for (;;) {
    Session* longest = nullptr;
    int64_t since = 0;
    for (const std::shared_ptr<Session>& session : all) {
      const int64_t idle_since = session->IdleSince();
      if (idle_since == 0 || (longest != nullptr && idle_since >= since)) continue;
      longest = session.get();
      since = idle_since;
    }
    if (longest == nullptr) return false;
    if (longest->TryEvict()) return true;
    // It has just become busy: the next one then.
  }
}

void SessionRegistry::WaitUntilEmpty() const {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this] { return sessions_.empty(); });
}

bool SessionRegistry::WaitUntilEmpty(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, timeout, [this] { return sessions_.empty(); });
}

}  // namespace tidemark::server
