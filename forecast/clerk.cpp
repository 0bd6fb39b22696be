#include "forecast/clerk.h"

namespace tidemark::forecast {

Clerk::Clerk() : thread_([this] { Run(); }) {}

Clerk::~Clerk() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Clerk::Ask(const std::function<void()>& what) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return asked_ == nullptr; });
  asked_ = &what;
  changed_.notify_all();
  changed_.wait(lock, [&] { return asked_ != &what; });
}

void Clerk::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || asked_ != nullptr; });
    if (asked_ == nullptr) return;
    const std::function<void()>& what = *asked_;
    lock.unlock();
    what();
    lock.lock();
    asked_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace tidemark::forecast
