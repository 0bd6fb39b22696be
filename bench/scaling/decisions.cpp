// What a tick of replica decisions costs: 10,000 workloads, forecasts being ready.
//
//   scaling_bench [WORKLOADS [REPEATS]]     default 10000 and 9
//
// Each workload has a Scaler with a policy's usual settings that has decided for three days, and a
// history of eight; demands are waves with noise, a few pods to hundreds. All of them share a few
// dozen forecast tracks, so that the tracks' fits do not take an hour. Prints
// `tidemark METRIC VALUE` for each policy that needs no network: CPU seconds of one core, the
// median of the ticks.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "scaling/replay_forecasts.h"
#include "scaling/scaler.h"

namespace {

using namespace tidemark;
using namespace tidemark::scaling;

constexpr size_t kTracks = 24;
constexpr int64_t kDays = 8;
constexpr int64_t kFirst = 29'000'160;  // minute of a midnight

double CpuSeconds() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

/// The demand of one track, and what was decided on it with each policy.
struct Workload {
  double demand = 0;
  TrackForecasts forecasts{ReplayForecastOptions{}};
  const DemandForecast* now = nullptr;
};

class Bench {
 public:
  explicit Bench(size_t workloads) : workloads_(workloads), tracks_(kTracks) {}

  void Warm() {
    for (; minute_ < kFirst + kDays * 1440; ++minute_) {
      Pass();
      if (minute_ < kFirst + (kDays - 3) * 1440) continue;
      for (Policy& policy : policies_) {
        for (size_t i = 0; i < kTracks; ++i) DecideOn(policy.warmed[i], tracks_[i]);
      }
    }
    // What three days have taught one is what all that share its track know.
    for (Policy& policy : policies_) {
      for (size_t i = 0; i < workloads_; ++i) {
        std::string state;
        ByteWriter out(state);
        policy.warmed[i % kTracks].Save(out);
        ByteReader in(state);
        policy.scalers.push_back(Scaler::Restore(in, policy.settings).value());
      }
    }
  }

  void Tick() {
    Pass();
    for (Policy& policy : policies_) {
      const double start = CpuSeconds();
      for (size_t i = 0; i < workloads_; ++i) DecideOn(policy.scalers[i], tracks_[i % kTracks]);
      policy.seconds.push_back(CpuSeconds() - start);
    }
    ++minute_;
  }

  void Print() {
    for (Policy& policy : policies_) {
      std::sort(policy.seconds.begin(), policy.seconds.end());
      size_t bytes = 0;
      for (const Scaler& scaler : policy.scalers) bytes += scaler.MemoryBytes();
      const std::string name(ToString(policy.settings.policy));
      std::printf("tidemark %s_tick_seconds %.6f\n", name.c_str(),
                  policy.seconds[policy.seconds.size() / 2]);
      std::printf("tidemark %s_bytes_per_workload %.0f\n", name.c_str(),
                  static_cast<double>(bytes) / static_cast<double>(workloads_));
    }
    std::printf("tidemark replicas %ld\n", total_);
  }

 private:
  struct Policy {
    explicit Policy(ScalingPolicy which) : settings(UsualSettings(which)) {
      for (size_t i = 0; i < kTracks; ++i) warmed.emplace_back(settings);
    }
    PolicySettings settings;
    std::vector<Scaler> warmed;
    std::vector<Scaler> scalers;
    std::vector<double> seconds;
  };

  void Pass() {
    for (size_t i = 0; i < kTracks; ++i) {
      const double size = 3 * std::pow(1.25, static_cast<double>(i));
      const auto at = static_cast<double>(minute_);
      const double wave = 1 + 0.4 * std::sin(at / 229.2) + 0.1 * std::sin(at / 9.0);
      tracks_[i].demand = size * wave * std::max(0.1, 1 + 0.08 * normal_(random_));
      tracks_[i].now = &tracks_[i].forecasts.At(minute_, tracks_[i].demand);
    }
  }

  void DecideOn(Scaler& scaler, const Workload& workload) {
    const int32_t before =
        scaler.last() ? scaler.last()->target : static_cast<int32_t>(workload.demand * 2) + 1;
    const ScalingMinute minute{.minute = minute_,
                               .demand = workload.demand,
                               .base = 1,
                               .replicas = before,
                               .ready_pods = before,
                               .bounds = {.min = 1, .max = 2000},
                               .lead_minutes = 3};
    total_ += scaler.Decide(minute, *workload.now).target;
  }

  size_t workloads_;
  std::vector<Workload> tracks_;
  std::vector<Policy> policies_ = MakePolicies();
  int64_t minute_ = kFirst;
  long total_ = 0;
  std::mt19937 random_{20'261'202};
  std::normal_distribution<double> normal_;

  static std::vector<Policy> MakePolicies() {
    std::vector<Policy> all;
    for (const ScalingPolicy which :
         {ScalingPolicy::kHpa, ScalingPolicy::kDebi, ScalingPolicy::kTidemark}) {
      all.emplace_back(which);
    }
    return all;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, size_t usual) {
    return argc > at ? static_cast<size_t>(std::strtoul(argv[at], nullptr, 10)) : usual;
  };
  const size_t workloads = std::max<size_t>(1, number(1, 10'000));
  const size_t repeats = std::max<size_t>(1, number(2, 9));
  Bench bench(workloads);
  bench.Warm();
  for (size_t i = 0; i < repeats; ++i) bench.Tick();
  bench.Print();
  return 0;
}
