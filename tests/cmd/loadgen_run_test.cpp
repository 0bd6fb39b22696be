// Whole runs against a receiver in this process that answers as it is told.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cmd/loadgen/cluster.h"
#include "cmd/loadgen/run.h"
#include "model/counters.h"
#include "server/server.h"
#include "tests/catch.h"

namespace tidemark::loadgen {
namespace {

class Receiver {
 public:
  explicit Receiver(std::function<HttpResponse(uint64_t number)> answer) {
    HttpRoute route;
    route.path = "/write";
    route.methods = {"POST"};
    route.max_body_bytes = 16 << 20;
    route.handler = [this, answer = std::move(answer)](const HttpRequest& request) {
      {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(request);
      }
      return answer(count_++);
    };
    auto server =
        server::Server::Start({.listen_address = "127.0.0.1:0"}, {route}, counters_, clock_);
    REQUIRE(server);
    server_ = *std::move(server);
  }

  Target target() const {
    auto target = ParseTarget("http://127.0.0.1:" + std::to_string(server_->port()) + "/write");
    REQUIRE(target);
    return *target;
  }
  std::vector<HttpRequest> requests() {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }

 private:
  SystemClock clock_;
  HttpCounters counters_;
  std::atomic<uint64_t> count_ = 0;
  std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::unique_ptr<server::Server> server_;  // last: its threads use the rest
};

HttpResponse Status(unsigned status) {
  HttpResponse response;
  response.status = status;
  return response;
}

HttpResponse Busy() {
  HttpResponse response = HttpResponse::Text(503, "not now");
  response.headers.push_back({"Retry-After", "60"});
  return response;
}

LoadOptions Options(const Receiver& receiver) {
  LoadOptions options;
  options.target = receiver.target();
  options.containers = 20;
  options.connections = 3;
  options.rounds = 4;
  options.samples_per_request = 50;
  options.max_retry_wait = std::chrono::milliseconds(1);
  return options;
}

LoadReport Go(const LoadOptions& options) {
  const SystemClock clock;
  const auto report = RunLoad(options, clock, [] { return false; });
  REQUIRE(report);
  return *report;
}

}  // namespace

TEST_CASE("A run sends every series in every round and counts what was acknowledged",
          "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) { return Status(204); });
  const LoadReport report = Go(Options(receiver));
  CHECK(report.containers == 20);
  CHECK(report.rounds == 4);
  CHECK(report.samples_sent == 4 * report.series);
  CHECK(report.AllAcknowledged());
  CHECK(report.requests == 4 * ((report.series + 49) / 50));
  CHECK(report.statuses == std::map<unsigned, uint64_t>{{204, report.requests}});
  CHECK(report.latency.p50_seconds > 0);
  CHECK(report.latency.max_seconds >= report.latency.p99_seconds);
  CHECK(receiver.requests().size() == report.requests);
  CHECK(report.last_time_ms - report.first_time_ms == 45'000);
  const SystemClock clock;
  CHECK(report.last_time_ms <= ToUnixMs(clock.Now()));
}

TEST_CASE("Requests say what they are", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) { return Status(200); });
  LoadOptions options = Options(receiver);
  options.rounds = 1;
  options.protocol = Protocol::kV2;
  options.headers = {{"X-Scope-OrgID", "seven"}};
  CHECK(Go(options).AllAcknowledged());
  for (const HttpRequest& request : receiver.requests()) {
    CHECK(request.Header("Content-Type") ==
          "application/x-protobuf;proto=io.prometheus.write.v2.Request");
    CHECK(request.Header("Content-Encoding") == "snappy");
    CHECK(request.Header("X-Prometheus-Remote-Write-Version") == "2.0.0");
    CHECK(request.Header("X-Scope-OrgID") == "seven");
    CHECK(request.content_length == request.body.size());
  }
}

TEST_CASE("A series keeps to its connection, in the order of its samples", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) { return Status(204); });
  LoadOptions options = Options(receiver);
  options.samples_per_request = 100;
  const LoadReport report = Go(options);
  std::map<std::string, uint64_t> by_peer;
  for (const HttpRequest& request : receiver.requests()) ++by_peer[request.peer];
  CHECK(by_peer.size() == 3);
  // Bodies of a round are dealt out in turn.
  const uint64_t bodies = (report.series + 99) / 100;
  for (const auto& [peer, count] : by_peer) {
    CHECK(count >= 4 * (bodies / 3));
    CHECK(count <= 4 * (bodies / 3 + 1));
  }
}

TEST_CASE("After 503 a request is sent again until it is taken", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t number) { return number % 2 == 0 ? Busy() : Status(204); });
  LoadOptions options = Options(receiver);
  options.connections = 1;
  const LoadReport report = Go(options);
  CHECK(report.AllAcknowledged());
  CHECK(report.retries == report.requests);
  CHECK(report.statuses.at(503) == report.requests);
  CHECK(report.statuses.at(204) == report.requests);
  CHECK(report.first_refusal == "503 not now\n");
}

TEST_CASE("Told to drop, a run gives up what got 503", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t number) { return number == 0 ? Busy() : Status(204); });
  LoadOptions options = Options(receiver);
  options.retry_on_503 = false;
  const LoadReport report = Go(options);
  CHECK_FALSE(report.AllAcknowledged());
  CHECK(report.retries == 0);
  CHECK(report.samples_sent - report.samples_acknowledged == 50);
}

TEST_CASE("What is refused for good is never sent again", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) { return Status(400); });
  const LoadReport report = Go(Options(receiver));
  CHECK(report.samples_acknowledged == 0);
  CHECK(report.retries == 0);
  CHECK_FALSE(report.AllAcknowledged());
}

TEST_CASE("A request is not tried again for ever", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) { return Busy(); });
  LoadOptions options = Options(receiver);
  options.rounds = 1;
  options.retry_for = std::chrono::milliseconds(20);
  const LoadReport report = Go(options);
  CHECK(report.samples_acknowledged == 0);
  CHECK(report.samples_sent == report.series);
}

TEST_CASE("An answer that closes the connection is followed by a new one", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) {
    HttpResponse response = HttpResponse::Text(200, "bye");
    response.close = true;
    return response;
  });
  CHECK(Go(Options(receiver)).AllAcknowledged());
}

TEST_CASE("With a rate requests keep to the schedule and late ones are counted", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) { return Status(204); });
  LoadOptions options = Options(receiver);
  options.rounds = 2;
  options.rate = 2000;
  const LoadReport report = Go(options);
  CHECK(report.AllAcknowledged());
  // The last body is due that much after the first.
  const auto due = static_cast<double>(report.samples_sent - 50) / options.rate;
  CHECK(report.seconds > due * 0.9);

  // One connection cannot keep up with answers of 20 ms when a body is due every 5 ms.
  Receiver slow([](uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Status(204);
  });
  options = Options(slow);
  options.connections = 1;
  options.rate = 10'000;
  const LoadReport behind = Go(options);
  CHECK(behind.AllAcknowledged());
  CHECK(behind.late_starts > 0);
  CHECK(behind.max_lateness_seconds > 0.02);
  CHECK(behind.latency.max_seconds > behind.max_lateness_seconds);
}

TEST_CASE("A run ends with its time and when it is told to", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) { return Status(204); });
  LoadOptions options = Options(receiver);
  options.rounds = 0;
  options.rate = 1;  // the second body is due long after the end
  options.duration = std::chrono::milliseconds(50);
  CHECK(Go(options).requests == 1);

  options.duration = std::chrono::hours(1);
  const SystemClock clock;
  int asked = 0;
  const auto report = RunLoad(options, clock, [&asked] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ++asked > 50;
  });
  REQUIRE(report);
  CHECK(report->interrupted);
}

TEST_CASE("Sample times end with the run and never pass the wall clock", "[cmd][loadgen]") {
  constexpr int64_t kNow = 1'796'004'600'000;
  LoadOptions options;
  options.rounds = 10;
  CHECK(StartOf(options, 1000, kNow) == kNow - 150'000);
  options.rate = 100;  // a round takes 10 s
  CHECK(StartOf(options, 1000, kNow) == kNow - 50'000);
  options.rate = 1;  // more slowly than sample time passes
  CHECK(StartOf(options, 1000, kNow) == kNow);
  options = {};
  options.duration = std::chrono::seconds(10);
  CHECK(StartOf(options, 1000, kNow) == kNow - 86'400'000);
  options.start_ms = 5;
  CHECK(StartOf(options, 1000, kNow) == 5);

  Receiver receiver([](uint64_t) { return Status(204); });
  options = Options(receiver);
  options.rounds = 0;
  options.duration = std::chrono::minutes(10);
  options.interval = std::chrono::hours(6);
  const LoadReport report = Go(options);
  CHECK(report.caught_up);
  CHECK(report.rounds >= 4);
  CHECK(report.rounds <= 6);
}

TEST_CASE("A run by schedule lasts as long as it was told to", "[cmd][loadgen]") {
  Receiver receiver([](uint64_t) { return Status(204); });
  LoadOptions options = Options(receiver);
  options.rounds = 0;
  options.duration = std::chrono::seconds(2);
  options.interval = std::chrono::milliseconds(50);
  // As many samples as the series have in that time: their times are those of the clock, and bodies
  // are made ahead of them.
  options.rate = static_cast<double>(LoadCluster({.containers = options.containers,
                                                  .series = options.series,
                                                  .seed = options.seed,
                                                  .start_ms = 0,
                                                  .interval_ms = options.interval.count(),
                                                  .churn_per_hour = 0})
                                         .series()
                                         .size()) *
                 20;
  const LoadReport report = Go(options);
  CHECK_FALSE(report.caught_up);
  CHECK(report.rounds >= 39);
}

TEST_CASE("Nobody listens: an error before anything is sent", "[cmd][loadgen]") {
  LoadOptions options;
  options.target = {.host = "127.0.0.1", .port = "1", .path = "/"};
  const SystemClock clock;
  const auto report = RunLoad(options, clock, [] { return false; });
  REQUIRE_FALSE(report);
  CHECK(report.error().message.find("127.0.0.1:1") != std::string::npos);
}

}  // namespace tidemark::loadgen
