#include "cmd/replay_requests/plain_policies.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

namespace tidemark::replay_requests {
namespace {

constexpr int64_t kKrrHistoryMs = 14LL * 24 * 60 * 60 * 1000;
constexpr double kKrrMemoryBuffer = 1.15;

/// The highest of the samples of a sliding window: those that a later, higher one follows are
/// forgotten.
class WindowMax {
 public:
  void Add(int64_t time_ms, double sample) {
    while (!peaks_.empty() && peaks_.back().second <= sample) peaks_.pop_back();
    peaks_.emplace_back(time_ms, sample);
  }
  std::optional<double> Since(int64_t time_ms) {
    while (!peaks_.empty() && peaks_.front().first < time_ms) peaks_.pop_front();
    return peaks_.empty() ? std::nullopt : std::optional(peaks_.front().second);
  }

 private:
  std::deque<std::pair<int64_t, double>> peaks_;  // descending
};

class KrrPolicy final : public Policy {
 public:
  explicit KrrPolicy(double cpu_percentile) : percentile_(cpu_percentile) {}

  void See(const Trace& trace, size_t step) override {
    pods_.resize(trace.pods.size());
    const int64_t time = trace.TimeOf(step);
    for (size_t p = 0; p < pods_.size(); ++p) {
      const double cpu = trace.pods[p].samples[0][step];
      const double memory = trace.pods[p].samples[1][step];
      if (IsThere(cpu)) pods_[p].emplace_back(time, cpu);
      if (IsThere(memory)) memory_.Add(time, memory);
    }
  }

  Requests Ask(int64_t time_ms) override {
    const int64_t since = time_ms - kKrrHistoryMs;
    Requests requests;
    for (auto& samples : pods_) {
      while (!samples.empty() && samples.front().first < since) samples.pop_front();
      if (samples.empty()) continue;
      scratch_.clear();
      for (const auto& [time, cpu] : samples) scratch_.push_back(cpu);
      requests[0] = std::max(requests[0].value_or(0), LinearQuantile(scratch_, percentile_));
    }
    if (const auto most = memory_.Since(since)) requests[1] = *most * kKrrMemoryBuffer;
    return requests;
  }

 private:
  const double percentile_;
  std::vector<std::deque<std::pair<int64_t, double>>> pods_;
  WindowMax memory_;
  std::vector<double> scratch_;
};

class MaxPolicy final : public Policy {
 public:
  void See(const Trace& trace, size_t step) override {
    for (const PodUsage& pod : trace.pods) {
      for (size_t r = 0; r < kReplayed.size(); ++r) {
        const double sample = pod.samples[r][step];
        if (IsThere(sample)) most_[r] = std::max(most_[r].value_or(0), sample);
      }
    }
  }
  Requests Ask(int64_t) override { return most_; }

 private:
  Requests most_;
};

}  // namespace

double LinearQuantile(std::span<double> samples, double p) {
  const double place = p * static_cast<double>(samples.size() - 1);
  const double whole = std::floor(place);
  const auto lower = samples.begin() + static_cast<std::ptrdiff_t>(whole);
  std::ranges::nth_element(samples, lower);
  if (place == whole) return *lower;
  const double upper = *std::min_element(lower + 1, samples.end());
  return *lower + (upper - *lower) * (place - whole);
}

std::unique_ptr<Policy> MakeKrrPolicy(double cpu_percentile) {
  return std::make_unique<KrrPolicy>(cpu_percentile);
}

std::unique_ptr<Policy> MakeMaxPolicy() { return std::make_unique<MaxPolicy>(); }

}  // namespace tidemark::replay_requests
