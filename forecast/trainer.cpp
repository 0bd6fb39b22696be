#include "forecast/trainer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "forecast/clerk.h"
#include "forecast/cpu_budget.h"
#include "forecast/network_together.h"
#include "forecast/training_queue.h"

namespace tidemark::forecast {
namespace {

/// Whoever wishes may not have seen yet what came back so lately (seconds).
constexpr double kRestAfterFit = 60;
/// What was refused is refused again until there is more to learn from.
constexpr double kRestAfterRefusal = 600;

uint64_t Mix(uint64_t hash, uint64_t value) {  // the finaliser of SplitMix64 (Steele et al. 2014)
  hash += value + 0x9E3779B97F4A7C15;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
  return hash ^ (hash >> 31);
}

}  // namespace

uint64_t TrainingSeed(const TrainingWish& wish, int64_t history_end) {
  uint64_t hash = Mix(static_cast<uint64_t>(wish.model), static_cast<uint64_t>(history_end));
  for (const char c : wish.workload) hash = Mix(hash, static_cast<unsigned char>(c));
  return hash == 0 ? 1 : hash;
}

/// Two threads: the fitting one, which lives in Fit and what is below it, and the clerk, which does
/// for it whatever takes a lock or calls back.
class Trainer::Core {
 public:
  Core(const Options& options, TrainingCounters& counters, Load load, Done done)
      : options_(options),
        time_(options.time ? *options.time : machine_),
        counters_(counters),
        load_(std::move(load)),
        done_(std::move(done)),
        budget_ratio_(options.budget_ratio) {
    counters_.budget_ratio_now = options.budget_ratio;
    fitting_ = std::thread([this] { FitAll(); });
  }

  ~Core() { Stop(); }

  void Stop() {
    stop_.request_stop();
    {
      // Between this thread's look at the token and its wait it holds the lock.
      const std::lock_guard lock(mutex_);
    }
    wanted_.notify_all();
    if (fitting_.joinable()) fitting_.join();
  }

  void SetWishes(std::vector<TrainingWish> wishes) {
    const std::lock_guard lock(mutex_);
    if (stop_.stop_requested()) return;
    queue_.Set(std::move(wishes), time_.Now());
    QueueChanged();
    wanted_.notify_all();
  }

  void SetBudget(double ratio) {
    const std::lock_guard lock(mutex_);
    budget_ratio_ = ratio;
    counters_.budget_ratio_now = ratio;
    QueueChanged();
    wanted_.notify_all();
  }

 private:
  // What the clerk does.

  /// The next fits, loaded; waits for them. Empty: it is time to stop.
  std::vector<TrainingTask> WaitForTasks() {
    std::unique_lock lock(mutex_);
    while (!stop_.stop_requested()) {
      if (budget_ratio_ <= 0 || queue_.size() == 0) {
        wanted_.wait(lock);
        continue;
      }
      std::vector<TrainingTask> tasks = LoadAll(queue_.Take(options_.most_together), lock);
      if (!tasks.empty()) return tasks;
    }
    return {};
  }

  std::vector<TrainingTask> ShortTask() {
    std::unique_lock lock(mutex_);
    std::vector<TrainingTask> tasks;
    while (tasks.empty() && queue_.HasShort() && !stop_.stop_requested()) {
      tasks = LoadAll(queue_.TakeShort(), lock);
    }
    return tasks;
  }

  std::vector<TrainingTask> LoadAll(const std::vector<TrainingWish>& wishes,
                                    std::unique_lock<std::mutex>& lock) {
    QueueChanged();
    lock.unlock();
    std::vector<TrainingTask> tasks;
    std::vector<const TrainingWish*> gone;
    for (const TrainingWish& wish : wishes) {
      std::optional<TrainingTask> task = load_(wish);
      if (!task) {
        gone.push_back(&wish);
        continue;
      }
      task->wish = wish;
      if (task->seed == 0) task->seed = TrainingSeed(wish, task->history.end());
      tasks.push_back(*std::move(task));
    }
    lock.lock();
    for (const TrainingWish* const wish : gone) queue_.End(*wish, time_.Now());
    return tasks;
  }

  void End(const TrainingWish& wish, double rest_seconds) {
    const std::lock_guard lock(mutex_);
    queue_.End(wish, time_.Now() + rest_seconds);
  }

  /// Under the lock.
  void QueueChanged() {
    has_short_ = queue_.HasShort();
    counters_.queued_now = static_cast<int64_t>(queue_.size());
    const double ratio = budget_ratio_;
    counters_.overdue_ms_now =
        ratio > 0 ? std::llround(std::min(queue_.Seconds() / ratio * 1000, 1e15)) : -1;
  }

  // What the fitting thread does.

  void FitAll() {
    YieldToAllOthers();
    budget_ = CpuBudget(time_.Now());
    charged_ = time_.Spent();
    while (!stop_.stop_requested()) {
      std::vector<TrainingTask> tasks;
      clerk_.Ask([&] { tasks = WaitForTasks(); });
      Charge();  // what waiting and handing over took
      Fit(std::move(tasks));
      KeepToBudget();
    }
  }

  struct Job {
    TrainingTask task;
    std::unique_ptr<Forecaster> forecaster;
    double seconds = 0;
  };

  void Fit(std::vector<TrainingTask> tasks) {
    if (tasks.empty()) return;
    std::vector<Job> jobs(tasks.size());
    double* const outer = std::exchange(charge_to_, &jobs.front().seconds);
    std::vector<TogetherFit> fits;
    for (size_t i = 0; i < tasks.size(); ++i) {
      Job& job = jobs[i];
      job.task = std::move(tasks[i]);
      job.forecaster = options_.make(job.task.wish.model, job.task.horizons);
      if (!job.task.weights.empty()) {
        ByteReader in(job.task.weights);
        // Of another release or other horizons: it begins from nothing.
        static_cast<void>(job.forecaster->Restore(in));
      }
      FitOptions how;
      how.seed = job.task.seed;
      how.stop = stop_.get_token();
      how.pause = [this, is_inner = outer != nullptr] { Pause(is_inner); };
      fits.push_back({job.forecaster.get(), &job.task.history, std::move(how)});
    }
    if (outer == nullptr) inner_seconds_ = 0;
    TrainTogether(fits, [&](size_t i, const Result<FitReport>& report) {
      std::string weights;
      if (report) {
        ByteWriter out(weights);
        jobs[i].forecaster->Save(out);
      }
      Charge();
      charge_to_ = i + 1 < jobs.size() ? &jobs[i + 1].seconds : outer;
      if (outer == nullptr) inner_seconds_ = 0;
      HandOver(jobs[i].task, report, weights, jobs[i].seconds);
    });
  }

  /// The clerk makes copies and frees what was loaded: memory that one thread takes and another
  /// gives back is a lock between them, too (malloc's arenas).
  void HandOver(TrainingTask& task, const Result<FitReport>& report, const std::string& weights,
                double seconds) {
    const bool stopped = stop_.stop_requested();
    clerk_.Ask([&] {
      const TrainingTask done = std::move(task);
      if (report && !stopped) {
        done_({.wish = done.wish,
               .weights = weights,
               .report = *report,
               .seconds = seconds,
               .trained_minute = done.history.end() - 1});
      }
      End(done.wish, report ? kRestAfterFit : kRestAfterRefusal);
    });
    ++(stopped ? counters_.fits_stopped : report ? counters_.fits : counters_.fits_refused);
  }

  /// Within a fit.
  void Pause(bool is_inner) {
    Charge();
    KeepToBudget();
    if (is_inner) return;
    while (has_short_ && inner_seconds_ < *charge_to_ && !stop_.stop_requested()) {
      std::vector<TrainingTask> tasks;
      clerk_.Ask([&] { tasks = ShortTask(); });
      const double before = total_seconds_;
      Fit(std::move(tasks));
      inner_seconds_ += total_seconds_ - before;
      KeepToBudget();
    }
  }

  /// Charges what was spent since the last call to the fit that goes on.
  void Charge() {
    const double spent = time_.Spent();
    const double seconds = std::exchange(charged_, spent);
    const double added = std::max(0.0, spent - seconds);
    budget_.Spend(added, budget_ratio_, time_.Now());
    total_seconds_ += added;
    if (charge_to_ != nullptr) *charge_to_ += added;
    const auto total_ms = static_cast<uint64_t>(std::floor(total_seconds_ * 1000));
    counters_.spent_milliseconds += total_ms - std::exchange(told_ms_, total_ms);
  }

  void KeepToBudget() {
    while (!stop_.stop_requested()) {
      const double idle = budget_.IdleFor(budget_ratio_, time_.Now());
      if (idle <= 0) return;
      time_.Idle(idle, stop_.get_token());
    }
  }

  const Options options_;
  MachineTime machine_;
  TrainingTime& time_;
  TrainingCounters& counters_;
  const Load load_;
  const Done done_;

  std::stop_source stop_;
  std::atomic<double> budget_ratio_;
  std::atomic<bool> has_short_ = false;

  std::mutex mutex_;
  std::condition_variable wanted_;
  TrainingQueue queue_;

  // Of the fitting thread.
  CpuBudget budget_{0};
  double charged_ = 0;           ///< of time_.Spent()
  double total_seconds_ = 0;     ///< ever
  double inner_seconds_ = 0;     ///< within the fit that goes on, of others
  uint64_t told_ms_ = 0;         ///< of total_seconds_, to the counter
  double* charge_to_ = nullptr;  ///< the fit that goes on; null: none

  Clerk clerk_;
  std::thread fitting_;
};

Trainer::Trainer(const Options& options, TrainingCounters& counters, Load load, Done done)
    : core_(std::make_unique<Core>(options, counters, std::move(load), std::move(done))) {}
Trainer::~Trainer() = default;

void Trainer::SetWishes(std::vector<TrainingWish> wishes) { core_->SetWishes(std::move(wishes)); }
void Trainer::SetBudget(double budget_ratio) { core_->SetBudget(budget_ratio); }
void Trainer::Stop() { core_->Stop(); }

}  // namespace tidemark::forecast
