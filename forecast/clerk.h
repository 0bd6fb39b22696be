#pragma once
// A thread of normal priority that runs, one at a time, what another thread asks it for.
//
// A thread of the lowest priority must not hold a lock that others want: it may not get CPU for
// long. So it has a clerk do whatever takes one. Ask may be called by any thread.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tidemark::forecast {

class Clerk {
 public:
  Clerk();
  /// Nobody may be asking any more.
  ~Clerk();
  Clerk(const Clerk&) = delete;
  Clerk& operator=(const Clerk&) = delete;

  /// Returns when the clerk's thread has done it.
  void Ask(const std::function<void()>& what);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* asked_ = nullptr;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses what is above
};

}  // namespace tidemark::forecast
