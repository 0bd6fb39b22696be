// A pair of servers with delays, resends, deaths and returns, through receiver and engine: no
// series gets two samples of one time or a time going back, and no counter falls.
#include <deque>
#include <functional>
#include <random>

#include "remote_write/handler.h"
#include "tests/engine/feed.h"
#include "tests/remote_write/wire_builder.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr int64_t kScrapeMs = 15'000;
constexpr int64_t kTimeoutMs = 30'000;
constexpr int kPods = 3;
constexpr double kCores = 0.5;

/// The engine with an eye on each sample: hands them on one by one, and sees which are accepted.
class WatchedSink final : public SampleSink {
 public:
  explicit WatchedSink(SampleSink& engine) : engine_(engine) {}

  std::unique_ptr<WriteBatch> Begin() override { return std::make_unique<Batch>(*this); }

  std::function<bool()> overloaded;                     ///< then Commit refuses
  std::function<void()> while_under_way;                ///< called between decision and Commit
  std::map<std::string, std::vector<Sample>> accepted;  ///< by the series' bytes

 private:
  class Batch final : public WriteBatch {
   public:
    explicit Batch(WatchedSink& sink) : sink_(sink) {}
    void Add(const IncomingSeries& series) override {
      kept_.push_back({std::string(series.label_bytes),
                       {series.samples.begin(), series.samples.end()},
                       series.from_ha_pair});
    }
    Result<WriteVerdict> Commit() override {
      sink_.while_under_way();
      if (sink_.overloaded()) return Fail(ErrorCode::kUnavailable, "full");
      WriteVerdict sum;
      for (const Kept& kept : kept_) {
        std::vector<LabelView> labels;
        REQUIRE(DecodeLabels(kept.bytes, labels));
        for (const Sample& sample : kept.samples) {
          auto batch = sink_.engine_.Begin();
          batch->Add({labels, kept.bytes, {&sample, 1}, kept.from_ha_pair});
          const auto verdict = batch->Commit();
          REQUIRE(verdict);
          sum.Merge(*verdict);
          if (verdict->accepted == 1) sink_.accepted[kept.bytes].push_back(sample);
        }
      }
      return sum;
    }

   private:
    struct Kept {
      std::string bytes;
      std::vector<Sample> samples;
      bool from_ha_pair;
    };
    WatchedSink& sink_;
    std::vector<Kept> kept_;
  };
  SampleSink& engine_;
};

/// One server of the pair: scrapes, queues, sends in order, resends what was answered 503.
struct Server {
  std::string replica;
  int64_t phase_ms;
  int64_t dead_until_ms = 0;
  int64_t next_scrape_ms = 0;
  int64_t may_send_ms = 0;
  std::deque<std::string> queue{};

  void Scrape(int64_t now) {
    using namespace remote_write::test;
    std::string message;
    for (int pod = 0; pod < kPods; ++pod) {
      LabelMap labels = Cpu("db-" + std::to_string(pod));
      labels["cluster"] = "eu";
      labels["__replica__"] = replica;
      std::string content;
      for (const auto& [name, value] : labels) content += Label(name, value);
      const int64_t at = now - pod * 1000;  // cAdvisor's own time stamps are a little old
      content += SampleField(1000 + kCores * static_cast<double>(at - kT0) / 1000, at);
      message += BytesField(1, content);
    }
    queue.push_back(Pack(message));
  }
};

}  // namespace

TEST_CASE("whatever happens to a pair, its series go on as from one server", "[engine][ha]") {
  const uint32_t seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  uint64_t failovers = 0;
  for (int round = 0; round < 12; ++round) {
    Bench bench;
    for (int pod = 0; pod < kPods; ++pod) {
      LabelMap owner = PodOwner("db-" + std::to_string(pod), "StatefulSet", "db");
      owner["cluster"] = "eu";
      bench.Put(owner, kT0, 1);
    }
    WatchedSink sink(bench.engine);
    RemoteWriteCounters counters;
    remote_write::HaTracker ha({.failover_timeout_ms = kTimeoutMs});
    remote_write::Handler handler(sink, bench.clock, {}, counters,
                                  {.accepting = {}, .jitter_seed = {}, .ha = &ha});
    std::vector<Server> servers = {{"a", below(kScrapeMs)}, {"b", below(kScrapeMs)}};
    for (Server& server : servers) server.next_scrape_ms = kT0 + 10'000 + server.phase_ms;
    const Server* sending = nullptr;
    const auto send = [&](Server& server) {
      HttpRequest request;
      request.method = "POST";
      request.path = "/api/v1/write";
      request.headers = {{"Content-Type", "application/x-protobuf"},
                         {"Content-Encoding", "snappy"}};
      request.body = server.queue.front();
      const Server* const outer = std::exchange(sending, &server);
      const unsigned status = handler.Handle(request).status;
      sending = outer;
      REQUIRE((status == 204 || status == 503));
      if (status == 204) server.queue.pop_front();
      server.may_send_ms = ToUnixMs(bench.clock.Now()) + below(8000);
    };
    sink.overloaded = [&] { return below(10) == 0; };
    bool nested = false;
    sink.while_under_way = [&] {  // the other server's request comes in between
      if (nested || below(4) != 0) return;
      Server& other = sending == &servers[0] ? servers[1] : servers[0];
      if (other.queue.empty()) return;
      nested = true;
      send(other);
      nested = false;
    };
    const int64_t end = kT0 + 2'400'000;
    for (int64_t now = kT0 + 10'000; now < end; now += 500) {
      bench.clock.Set(FromUnixMs(now));
      for (Server& server : servers) {
        if (now < server.dead_until_ms) continue;
        if (below(600) == 0) {  // dies, with all it has not sent
          server.dead_until_ms = now + 5000 + below(200'000);
          server.queue.clear();
          while (server.next_scrape_ms < server.dead_until_ms) server.next_scrape_ms += kScrapeMs;
          continue;
        }
        if (now >= server.next_scrape_ms) {
          server.Scrape(now);
          server.next_scrape_ms += kScrapeMs;
        }
        if (!server.queue.empty() && now >= server.may_send_ms) send(server);
      }
    }
    const auto status = ha.HaClusters();
    REQUIRE(status.size() == 1);
    failovers += status[0].failovers;
    REQUIRE(sink.accepted.size() == kPods);
    for (const auto& [series, samples] : sink.accepted) {
      for (size_t i = 1; i < samples.size(); ++i) {
        REQUIRE(samples[i].timestamp_ms > samples[i - 1].timestamp_ms);
        REQUIRE(samples[i].value >= samples[i - 1].value);
      }
      // As many as one server scrapes; each change of the leader may bring one sooner.
      REQUIRE(samples.size() <= 2'400'000 / kScrapeMs + 2 + status[0].failovers);
    }
    REQUIRE(bench.counters.counter_resets == 0);
    REQUIRE(counters.samples_ignored[static_cast<size_t>(IgnoreReason::kHaCopy)] > 0);
    for (const Counter& rejected : counters.samples_rejected) REQUIRE(rejected == 0);
    const auto cpu = bench.Find("db", "app", Resource::kCpu);
    REQUIRE(cpu);
    REQUIRE(*cpu->model_request == Approx(kCores).epsilon(0.06));
  }
  CHECK(failovers > 12);
}
