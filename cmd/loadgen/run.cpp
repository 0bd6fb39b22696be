#include "cmd/loadgen/run.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "cmd/loadgen/body_encoder.h"
#include "cmd/loadgen/body_queue.h"
#include "cmd/loadgen/cluster.h"
#include "cmd/loadgen/http_connection.h"

namespace tidemark::loadgen {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr size_t kAheadBytes = 512 << 20;
constexpr Seconds kLate{0.005};
/// A sender that has no Retry-After to go by waits so long (Prometheus' max_backoff).
constexpr std::chrono::seconds kDefaultWait{5};
constexpr int64_t kDayMs = 24 * 3600 * 1000LL;

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What one connection has seen.
struct Tally {
  std::map<unsigned, uint64_t> statuses;
  uint64_t requests = 0;
  uint64_t retries = 0;
  uint64_t rounds = 0;
  uint64_t samples_sent = 0;
  uint64_t samples_acknowledged = 0;
  uint64_t bytes_sent = 0;
  uint64_t late_starts = 0;
  double max_lateness_seconds = 0;
  std::vector<float> latencies;
  SteadyClock::time_point last_answer;
  double cpu_seconds = 0;
  std::string first_refusal;
};

class Run {
 public:
  Run(const LoadOptions& options, const Clock& clock, LoadCluster& cluster, int64_t start_ms)
      : options_(options),
        clock_(clock),
        cluster_(cluster),
        start_ms_(start_ms),
        queues_(options.connections, kAheadBytes),
        tallies_(options.connections) {}

  LoadReport Go(std::vector<std::unique_ptr<HttpConnection>> connections,
                const ShouldStop& should_stop) {
    std::thread encoder([this] { Encode(); });
    // Encoding ahead may take seconds, and can be given up too.
    std::atomic<bool> filled = false;
    std::thread waiter([&] {
      queues_.WaitUntilFilled();
      filled = true;
    });
    while (!filled) AskToStop(should_stop);
    waiter.join();
    begin_ = SteadyClock::now();
    std::atomic<size_t> running = connections.size();
    std::vector<std::thread> senders;
    for (size_t i = 0; i < connections.size(); ++i) {
      senders.emplace_back([this, i, &connections, &running] {
        Send(i, *connections[i]);
        tallies_[i].cpu_seconds = ThreadCpuSeconds();
        --running;
      });
    }
    while (running > 0) AskToStop(should_stop);
    for (std::thread& sender : senders) sender.join();
    Stop();
    encoder.join();
    return Report();
  }

 private:
  void AskToStop(const ShouldStop& should_stop) {
    if (!should_stop() || interrupted_) return;
    interrupted_ = true;
    Stop();
  }

  void Stop() {
    queues_.Stop();
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    stopping_.notify_all();
  }

  /// False when the run is ended before.
  bool SleepUntil(SteadyClock::time_point until) {
    std::unique_lock lock(mutex_);
    return !stopping_.wait_until(lock, until, [this] { return stopped_; });
  }

  void Encode() {
    const size_t per_body = options_.samples_per_request;
    const std::span<const LoadSeries> all = cluster_.series();
    const size_t bodies = (all.size() + per_body - 1) / per_body;
    std::vector<EncoderV2> encoders(options_.protocol == Protocol::kV2 ? bodies : 0);
    std::string message;
    uint64_t samples = 0;
    int64_t time_ms = start_ms_;
    for (uint64_t round = 0; options_.rounds == 0 || round < options_.rounds; ++round) {
      // By schedule and with an end, sample times were laid so that they end with the run
      // (StartOf); bodies are made ahead of their time, which is no sign of anything.
      const bool ends_in_time =
          options_.rate > 0 && (options_.rounds > 0 || options_.duration.count() > 0);
      if (!options_.start_ms && !ends_in_time &&
          time_ms > ToUnixMs(clock_.Now()) + options_.interval.count()) {
        caught_up_ = true;
        break;
      }
      if (round > 0) {
        cluster_.NextRound();
        for (const uint32_t place : cluster_.changed()) {
          if (!encoders.empty()) encoders[place / per_body].Forget();
        }
      }
      for (size_t i = 0; i < bodies; ++i) {
        const auto part = all.subspan(i * per_body, std::min(per_body, all.size() - i * per_body));
        if (encoders.empty()) {
          EncodeV1(part, time_ms, message);
        } else {
          encoders[i].Encode(part, time_ms, message);
        }
        if (!queues_.Push(i % options_.connections, {Pack(message), part.size(), samples, round})) {
          encode_cpu_seconds_ = ThreadCpuSeconds();
          return;
        }
        samples += part.size();
      }
      time_ms += options_.interval.count();
    }
    encode_cpu_seconds_ = ThreadCpuSeconds();
    queues_.Finish();
  }

  bool IsOver() const {
    return options_.duration.count() > 0 && SteadyClock::now() - begin_ >= options_.duration;
  }

  void Send(size_t number, HttpConnection& connection) {
    Tally& tally = tallies_[number];
    while (!IsOver()) {
      const std::optional<Body> body = queues_.Pop(number);
      if (!body) return;
      SteadyClock::time_point since = SteadyClock::now();
      if (options_.rate > 0) {
        const Seconds due(static_cast<double>(body->samples_before) / options_.rate);
        const auto at = begin_ + std::chrono::duration_cast<SteadyClock::duration>(due);
        if (options_.duration.count() > 0 && at - begin_ >= options_.duration) return;
        if (at > since && !SleepUntil(at)) return;
        const Seconds late = std::max(since, at) - at;
        if (late > kLate) ++tally.late_starts;
        tally.max_lateness_seconds = std::max(tally.max_lateness_seconds, late.count());
        since = at;
      }
      tally.rounds = std::max(tally.rounds, body->round + 1);
      tally.samples_sent += body->samples;
      tally.bytes_sent += body->bytes.size();
      if (SendOne(connection, *body, since, tally)) tally.samples_acknowledged += body->samples;
      ++tally.requests;
      tally.last_answer = SteadyClock::now();
    }
  }

  /// Until it is taken, refused for good, or given up.
  bool SendOne(HttpConnection& connection, const Body& body, SteadyClock::time_point since,
               Tally& tally) {
    const std::string head = RequestHead(options_, body.bytes.size());
    const auto give_up = SteadyClock::now() + options_.retry_for;
    for (;;) {
      const Result<Answer> answer = connection.Send(head, body.bytes);
      const unsigned status = answer ? answer->status : 0;
      tally.latencies.push_back(static_cast<float>(Seconds(SteadyClock::now() - since).count()));
      ++tally.statuses[status];
      if (status >= 200 && status < 300) return true;
      if (tally.first_refusal.empty()) {
        tally.first_refusal =
            answer ? std::to_string(status) + " " + answer->text : answer.error().message;
      }
      const bool passing = status == 0 || status >= 500;
      if (!passing || !options_.retry_on_503) return false;
      const std::chrono::milliseconds asked =
          answer && answer->retry_after_seconds
              ? std::chrono::seconds(std::min(*answer->retry_after_seconds, 86'400U))
              : kDefaultWait;
      const auto next = SteadyClock::now() + std::min(asked, options_.max_retry_wait);
      if (next > give_up || !SleepUntil(next)) return false;
      ++tally.retries;
      since = SteadyClock::now();
    }
  }

  LoadReport Report() {
    LoadReport report;
    std::vector<float> latencies;
    SteadyClock::time_point end = begin_;
    for (Tally& tally : tallies_) {
      for (const auto& [status, count] : tally.statuses) report.statuses[status] += count;
      report.requests += tally.requests;
      report.retries += tally.retries;
      report.rounds = std::max(report.rounds, tally.rounds);
      report.samples_sent += tally.samples_sent;
      report.samples_acknowledged += tally.samples_acknowledged;
      report.bytes_sent += tally.bytes_sent;
      report.late_starts += tally.late_starts;
      report.max_lateness_seconds =
          std::max(report.max_lateness_seconds, tally.max_lateness_seconds);
      report.send_cpu_seconds += tally.cpu_seconds;
      if (report.first_refusal.empty()) report.first_refusal = std::move(tally.first_refusal);
      latencies.insert(latencies.end(), tally.latencies.begin(), tally.latencies.end());
      if (tally.requests > 0) end = std::max(end, tally.last_answer);
    }
    report.seconds = Seconds(end - begin_).count();
    report.encode_cpu_seconds = encode_cpu_seconds_;
    report.interrupted = interrupted_;
    report.caught_up = caught_up_;
    report.containers = cluster_.containers();
    report.pods = cluster_.pods();
    report.pods_replaced = cluster_.pods_replaced();
    report.series = cluster_.series().size();
    report.first_time_ms = start_ms_;
    report.last_time_ms =
        start_ms_ +
        static_cast<int64_t>(std::max<uint64_t>(report.rounds, 1) - 1) * options_.interval.count();
    if (!latencies.empty()) {
      std::sort(latencies.begin(), latencies.end());
      const auto at = [&](double share) {
        return static_cast<double>(
            latencies[static_cast<size_t>(share * static_cast<double>(latencies.size() - 1))]);
      };
      report.latency = {at(0.5), at(0.99), at(1)};
    }
    return report;
  }

  const LoadOptions& options_;
  const Clock& clock_;
  LoadCluster& cluster_;
  const int64_t start_ms_;
  BodyQueues queues_;
  std::vector<Tally> tallies_;  // one for each connection's thread
  SteadyClock::time_point begin_;
  double encode_cpu_seconds_ = 0;  // the encoder's, until it is joined
  bool caught_up_ = false;         // likewise
  bool interrupted_ = false;

  std::mutex mutex_;  // guards stopped_
  std::condition_variable stopping_;
  bool stopped_ = false;
};

}  // namespace

int64_t StartOf(const LoadOptions& options, uint64_t series, int64_t now_ms) {
  if (options.start_ms) return *options.start_ms;
  const int64_t interval = options.interval.count();
  double rounds = options.rounds > 0 ? static_cast<double>(options.rounds) : INFINITY;
  if (options.duration.count() > 0 && options.rate > 0 && series > 0) {
    const double seconds = Seconds(options.duration).count();
    rounds = std::min(rounds, seconds * options.rate / static_cast<double>(series) + 1);
  }
  if (!std::isfinite(rounds)) return options.rate > 0 ? now_ms : now_ms - kDayMs;
  double end = static_cast<double>(now_ms);
  if (options.rate > 0) end += rounds * static_cast<double>(series) / options.rate * 1000;
  return std::min(now_ms, static_cast<int64_t>(end - rounds * static_cast<double>(interval)));
}

Result<LoadReport> RunLoad(const LoadOptions& options, const Clock& clock,
                           const ShouldStop& should_stop) {
  std::vector<std::unique_ptr<HttpConnection>> connections;
  for (unsigned i = 0; i < options.connections; ++i) {
    connections.push_back(std::make_unique<HttpConnection>(options.target));
    if (auto connected = connections.back()->Connect(); !connected) {
      return tl::unexpected(connected.error());
    }
  }
  ClusterOptions cluster_options{.containers = options.containers,
                                 .series = options.series,
                                 .seed = options.seed,
                                 .start_ms = 0,
                                 .interval_ms = options.interval.count(),
                                 .churn_per_hour = options.churn_per_hour};
  // Where time begins may depend on how many series there are; that does not depend on the time.
  const uint64_t series = options.start_ms ? 0 : LoadCluster(cluster_options).series().size();
  cluster_options.start_ms = StartOf(options, series, ToUnixMs(clock.Now()));
  LoadCluster cluster(cluster_options);
  return Run(options, clock, cluster, cluster_options.start_ms)
      .Go(std::move(connections), should_stop);
}

}  // namespace tidemark::loadgen
