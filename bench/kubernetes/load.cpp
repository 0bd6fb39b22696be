#include "bench/kubernetes/load.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "bench/kubernetes/connection.h"

namespace tidemark::bench {
namespace {

using Steady = std::chrono::steady_clock;
constexpr size_t kSixths = 6;

struct Shared {
  const LoadPlan& plan;
  const std::vector<Question>& questions;
  SSL_CTX* context;
  uint16_t port;
  Steady::time_point start;
  std::atomic<uint64_t> next{0};

  /// When the request with this number should be sent; nothing: it is not part of the run.
  std::optional<Steady::time_point> DueOf(uint64_t number) const {
    const auto after = [&](double seconds) {
      return start +
             std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(seconds));
    };
    if (plan.per_second > 0) {
      const double seconds = static_cast<double>(number) / plan.per_second;
      if (seconds >= plan.seconds) return std::nullopt;
      return after(seconds);
    }
    const auto now = std::max(Steady::now(), start);
    if (now >= after(plan.seconds)) return std::nullopt;
    return now;
  }
};

double SecondsBetween(Steady::time_point from, Steady::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// What one connection has seen.
struct Part {
  LoadResult result;
  std::array<std::vector<double>, kSixths> latencies_seconds;  // by when they began
};

void Work(Shared& shared, Part& part) {
  LoadResult& result = part.result;
  // The usual slack of 50 us would be taken for the server's.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  Connection connection(shared.context, shared.port);
  if (!shared.plan.always_new) connection.Open();
  while (true) {
    const uint64_t number = shared.next.fetch_add(1, std::memory_order_relaxed);
    const auto due = shared.DueOf(number);
    if (!due) break;
    std::this_thread::sleep_until(*due);
    if (shared.plan.always_new) {
      connection.Close();
    } else if (!connection.is_open()) {
      ++result.reopened;
    }
    const Question& question = shared.questions[number % shared.questions.size()];
    const Answer answer = connection.Ask(question.request);
    const auto now = Steady::now();
    ++result.requests;
    ++result.statuses[answer.status];
    const double began = SecondsBetween(shared.start, *due) / shared.plan.seconds;
    const auto sixth = std::min(static_cast<size_t>(began * kSixths), kSixths - 1);
    part.latencies_seconds[sixth].push_back(SecondsBetween(*due, now));
    result.seconds = SecondsBetween(shared.start, now);
    if (IsRight(question, answer.status, answer.body)) continue;
    ++result.wrong_answers;
    if (result.first_wrong.empty()) {
      result.first_wrong = fmt::format("{} {}", answer.status, answer.body.substr(0, 300));
    }
  }
}

}  // namespace

double Percentile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  const auto at = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(at, sorted.size() - 1)];
}

LoadResult RunLoad(const LoadPlan& plan, const std::vector<Question>& questions, SSL_CTX* context,
                   uint16_t port) {
  // Connections are there before the first request is due.
  Shared shared{plan, questions, context, port, Steady::now() + std::chrono::milliseconds(500), {}};
  std::vector<Part> parts(plan.connections);
  std::vector<std::thread> threads;
  threads.reserve(parts.size());
  for (Part& part : parts) threads.emplace_back([&shared, &part] { Work(shared, part); });
  for (std::thread& thread : threads) thread.join();
  LoadResult all;
  if (plan.per_second > 0) all.seconds = plan.seconds;
  for (auto& [result, _] : parts) {
    all.requests += result.requests;
    all.wrong_answers += result.wrong_answers;
    all.reopened += result.reopened;
    all.seconds = std::max(all.seconds, result.seconds);
    for (const auto& [status, count] : result.statuses) all.statuses[status] += count;
    if (all.first_wrong.empty()) all.first_wrong = std::move(result.first_wrong);
  }
  for (size_t sixth = 0; sixth < kSixths; ++sixth) {
    std::vector<double> latencies;
    for (const Part& part : parts) {
      const auto& of_part = part.latencies_seconds[sixth];
      latencies.insert(latencies.end(), of_part.begin(), of_part.end());
    }
    if (latencies.empty()) continue;
    std::sort(latencies.begin(), latencies.end());
    all.p99_of_sixths_seconds.push_back(Percentile(latencies, 0.99));
    all.latencies_seconds.insert(all.latencies_seconds.end(), latencies.begin(), latencies.end());
  }
  std::sort(all.latencies_seconds.begin(), all.latencies_seconds.end());
  std::sort(all.p99_of_sixths_seconds.begin(), all.p99_of_sixths_seconds.end());
  return all;
}

}  // namespace tidemark::bench
