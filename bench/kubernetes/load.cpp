#include "bench/kubernetes/load.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

#include "bench/kubernetes/connection.h"

namespace tidemark::bench {
namespace {

using Steady = std::chrono::steady_clock;

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

void Work(Shared& shared, LoadResult& result) {
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
    result.latencies_seconds.push_back(SecondsBetween(*due, now));
    result.seconds = SecondsBetween(shared.start, now);
    if (IsRight(question, answer.status, answer.body)) continue;
    ++result.wrong_answers;
    if (result.first_wrong.empty()) {
      result.first_wrong = fmt::format("{} {}", answer.status, answer.body.substr(0, 300));
    }
  }
}

}  // namespace

double LoadResult::At(double share) const {
  if (latencies_seconds.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double rank = std::ceil(share * static_cast<double>(latencies_seconds.size()));
  const auto at = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return latencies_seconds[std::min(at, latencies_seconds.size() - 1)];
}

LoadResult RunLoad(const LoadPlan& plan, const std::vector<Question>& questions, SSL_CTX* context,
                   uint16_t port) {
  // Connections are there before the first request is due.
  Shared shared{plan, questions, context, port, Steady::now() + std::chrono::milliseconds(500), {}};
  std::vector<LoadResult> parts(plan.connections);
  std::vector<std::thread> threads;
  for (LoadResult& part : parts) threads.emplace_back([&shared, &part] { Work(shared, part); });
  for (std::thread& thread : threads) thread.join();
  LoadResult all;
  for (LoadResult& part : parts) {
    all.requests += part.requests;
    all.wrong_answers += part.wrong_answers;
    all.reopened += part.reopened;
    all.seconds = std::max(all.seconds, part.seconds);
    for (const auto& [status, count] : part.statuses) all.statuses[status] += count;
    all.latencies_seconds.insert(all.latencies_seconds.end(), part.latencies_seconds.begin(),
                                 part.latencies_seconds.end());
    if (all.first_wrong.empty()) all.first_wrong = std::move(part.first_wrong);
  }
  std::sort(all.latencies_seconds.begin(), all.latencies_seconds.end());
  return all;
}

}  // namespace tidemark::bench
