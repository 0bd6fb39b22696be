#include "cmd/demo_cluster/batch_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cmd/demo_cluster/names.h"

namespace tidemark::demo_cluster {
namespace {

constexpr size_t kHistoryLimit = 3;
/// Longer than the longest run, so that runs of a fast cluster neither overlap nor share a minute
/// (and so a name).
constexpr double kShortestPeriodS = 170;

int64_t RunLengthMs(World& world, const Workload& workload) {
  // Long enough to fill at least one whole minute of usage however it is aligned.
  if (workload.spec.kind == OwnerKind::kCronJob) {
    return static_cast<int64_t>(world.random.Uniform(90, 150) * world.now.pace.run_stretch) * 1000;
  }
  return static_cast<int64_t>(std::max(150.0, 1500 / world.now.pace.speed)) * 1000;
}

int64_t PeriodMs(const World& world, const Workload& workload) {
  const Pace& pace = world.now.pace;
  const double stretch = workload.spec.kind == OwnerKind::kCronJob ? pace.run_stretch : 1;
  const double period_s = std::max(kShortestPeriodS, workload.spec.run_period / pace.speed);
  return static_cast<int64_t>(period_s * stretch) * 1000;
}

std::string JobName(const Workload& workload, int64_t scheduled_ms) {
  // A CronJob's controller names its Jobs by the scheduled time in minutes; a plain Job keeps its
  // own name.
  if (workload.spec.kind == OwnerKind::kJob) return std::string(workload.spec.name);
  return fmt::format("{}-{}", workload.spec.name, scheduled_ms / 60000);
}

Pod& CreateRun(World& world, Workload& workload, int64_t scheduled_ms) {
  const std::string job = JobName(workload, scheduled_ms);
  return CreatePod(world, workload,
                   {fmt::format("{}-{}", job, RandomSuffix(world.random, 5)), job, ""});
}

void StartRun(World& world, Workload& workload) {
  const int64_t now_ms = world.now.wall_ms;
  Pod& pod = CreateRun(world, workload, now_ms);
  pod.runs_at_ms = now_ms + 1000;
  pod.ready_at_ms = now_ms + 2000;
  pod.ends_at_ms = pod.runs_at_ms + RunLengthMs(world, workload);
  workload.next_run_ms = now_ms + PeriodMs(world, workload);
}

bool IsCompleted(const Pod& pod) { return pod.phase == Phase::kSucceeded; }

}  // namespace

void PopulateBatch(World& world, Workload& workload) {
  const int64_t now_ms = world.now.wall_ms;
  if (workload.spec.kind == OwnerKind::kCronJob) {
    const int64_t period_ms = PeriodMs(world, workload);
    for (int64_t ago = 2; ago >= 1; --ago) {
      Pod& pod = CreateRun(world, workload, now_ms - ago * period_ms);
      Backdate(world, workload, pod, ago * period_ms);
      pod.ends_at_ms = pod.runs_at_ms + RunLengthMs(world, workload);
      CompletePod(world, workload, pod);
    }
  }
  StartRun(world, workload);
}

void RestartBatch(World& world, Workload& workload) {
  const int64_t now_ms = world.now.wall_ms;
  for (Pod& pod : workload.pods) {
    if (IsCompleted(pod)) continue;
    // One that has only just begun is the new run: another would have the same name.
    const bool fresh = now_ms - pod.created_ms < 60000;
    pod.ends_at_ms = now_ms + (fresh ? RunLengthMs(world, workload) : 0);
  }
  workload.next_run_ms = now_ms;
}

void ReconcileBatch(World& world, Workload& workload) {
  const int64_t now_ms = world.now.wall_ms;
  bool busy = false;
  for (Pod& pod : workload.pods) {
    if (pod.phase == Phase::kRunning && now_ms >= pod.ends_at_ms) CompletePod(world, workload, pod);
    busy = busy || !IsCompleted(pod);
  }
  if (!busy && now_ms >= workload.next_run_ms) {
    // Two Jobs cannot have one name: a plain Job is deleted before it is made again.
    if (workload.spec.kind == OwnerKind::kJob) workload.pods.clear();
    StartRun(world, workload);
  }
  const auto completed =
      static_cast<size_t>(std::count_if(workload.pods.begin(), workload.pods.end(), IsCompleted));
  if (completed > kHistoryLimit) {
    const auto oldest = std::find_if(workload.pods.begin(), workload.pods.end(), IsCompleted);
    RemovePod(world, workload, static_cast<size_t>(oldest - workload.pods.begin()));
  }
}

}  // namespace tidemark::demo_cluster
