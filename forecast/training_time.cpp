#include "forecast/training_time.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace tidemark::forecast {

double MachineTime::Now() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double MachineTime::Spent() const {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

void MachineTime::Idle(double seconds, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
}

void YieldToAllOthers() {
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  const sched_param none{};
  if (sched_setscheduler(thread, SCHED_IDLE, &none) == 0) return;
  // On Linux a nice value belongs to the thread (setpriority(2)).
  constexpr int kNicest = 19;
  setpriority(PRIO_PROCESS, static_cast<id_t>(thread), kNicest);
}

}  // namespace tidemark::forecast
