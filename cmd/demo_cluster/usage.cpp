#include "cmd/demo_cluster/usage.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tidemark::demo_cluster {
namespace {

constexpr double kDay = 86400;
constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kPageSize = 4096;

/// Between -1 and 1, highest at `peak_hour` o'clock UTC.
double DailyWave(double simulated_s, double peak_hour) {
  return std::cos(2 * std::numbers::pi * (simulated_s / kDay - peak_hour / 24));
}

bool IsWeekend(double simulated_s) {
  // 1970-01-01 was a Thursday: Saturday and Sunday are days 2 and 3 of a week that begins there.
  const double day = std::fmod(std::floor(simulated_s / kDay), 7);
  return day == 2 || day == 3;
}

/// Draws towards `noise`'s mean of 0, so that neighbouring samples resemble each other.
void Drift(double& noise, double memory, Random& random) {
  noise = memory * noise + std::sqrt(1 - memory * memory) * random.Normal();
}

double WholePages(double bytes) { return std::round(bytes / kPageSize) * kPageSize; }

void UpdateCpu(Container& container, double load, double age_s, Random& random) {
  const Amounts& cpu = container.spec->cpu;
  Drift(container.cpu_noise, 0.9, random);
  // Start-up (class loading, cold caches) costs for about half a minute.
  const double startup = 1 + 1.2 * std::exp(-age_s / 15);
  const double demand = cpu.mean * load * startup * std::exp(0.2 * container.cpu_noise);
  if (cpu.limit <= 0) {
    container.cpu.rate = demand;
    return;
  }
  container.cpu.rate = std::min(demand, cpu.limit);
  // CFS periods are 100 ms long and count only while something wants to run; bursts inside a period
  // are cut long before the average reaches the limit.
  const double pressure = demand / cpu.limit;
  container.periods.rate = 10 * std::min(1.0, 0.3 + pressure);
  container.throttled.rate = container.periods.rate * std::clamp((pressure - 0.6) / 0.6, 0.0, 0.9);
}

void UpdateMemory(Container& container, const WorkloadSpec& spec, double load, double age_s,
                  const StepTime& time, Random& random) {
  const Amounts& memory = container.spec->memory_mib;
  Drift(container.memory_noise, 0.97, random);
  double mib = memory.mean * (0.85 + 0.15 * std::min(load, 2.0)) *
               (1 + 0.02 * container.memory_noise) * (1 - 0.4 * std::exp(-age_s / 30));
  if (spec.leak_period > 0 && memory.limit > 0) {
    container.leak_age += time.pace.speed * time.pace.step_s();
    mib = memory.mean * (1 + 0.01 * container.memory_noise) +
          (memory.limit - memory.mean) * container.leak_age / spec.leak_period;
    // Not by the noise: what a short demo shows must come when it was announced.
    container.out_of_memory = container.leak_age >= spec.leak_period;
  }
  if (memory.limit > 0) {
    mib = std::min(mib, memory.limit * (container.out_of_memory ? 0.999 : 0.97));
  }
  container.memory.working_set = WholePages(mib * kMebibyte);
  container.memory.rss = WholePages(0.82 * mib * kMebibyte);
  container.memory.cache = WholePages(0.3 * memory.mean * kMebibyte * (1 - std::exp(-age_s / 120)));
}

}  // namespace

double LoadFactor(Temper temper, uint64_t seed, size_t workload, double simulated_s) {
  // Peaks are spread over the late afternoon, so that workloads do not move in step.
  const double peak_hour = 15 + 5 * HashToUnit(seed, workload, 1);
  switch (temper) {
    case Temper::kSteady:
    case Temper::kLeaking: return 1 + 0.05 * DailyWave(simulated_s, peak_hour);
    case Temper::kDailyWave: return 1 + 0.6 * DailyWave(simulated_s, peak_hour);
    case Temper::kWeeklyWave:
      return (IsWeekend(simulated_s) ? 0.4 : 1.15) * (1 + 0.3 * DailyWave(simulated_s, peak_hour));
    case Temper::kBursty: {
      const auto slot = static_cast<uint64_t>(simulated_s / 120);
      return HashToUnit(seed, workload, slot) < 0.1 ? 4.0 : 0.67;
    }
    case Temper::kBatch: return 1;
  }
  return 1;
}

void UpdateUsage(Container& container, const WorkloadSpec& spec, double load, const StepTime& time,
                 Random& random) {
  const double age_s = static_cast<double>(time.wall_ms - container.started_ms) / 1000;
  UpdateCpu(container, load, age_s, random);
  UpdateMemory(container, spec, load, age_s, time, random);
}

}  // namespace tidemark::demo_cluster
