// Whole back-fills against a server and a sink that misbehave in turn.

#include "backfill/runner.h"

#include <condition_variable>
#include <thread>

#include "backfill/cursor.h"
#include "backfill/plan.h"
#include "backfill/query_text.h"
#include "model/log.h"
#include "tests/backfill/fake_past.h"
#include "tests/backfill/fake_prometheus.h"
#include "tests/catch.h"

namespace tidemark::backfill {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kHour = 60 * kMinuteMs;
constexpr int64_t kEnd = 1'700'000'040'000;
// Four hours before the clock, which is five seconds later, on the minute.
constexpr int64_t kStart = kEnd - 4 * kHour + kMinuteMs;

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// A server with three namespaces, a sink, and a runner between them.
struct World {
  FakePrometheus server;
  FakePastSink sink;
  ManualClock clock{FromUnixMs(kEnd + 5'000)};
  BackfillCounters counters;
  Options options;
  std::unique_ptr<Runner> runner;
  std::mutex log_mutex;
  std::vector<std::string> log;

  World() {
    for (const char* const name : {"a", "b", "c"}) {
      for (FakeSeries& one : ContainerSeries(name, "pod-1")) {
        server.series.push_back(std::move(one));
      }
    }
    sink.metrics = ClusterMetrics();
    options.http.url = server.url();
    options.range_ms = 4 * kHour;
    Tuning& tuning = options.tuning;
    tuning.unit_namespaces = 1;
    tuning.retry_first = 1ms;
    tuning.retry_longest = 2ms;
    tuning.unreachable_for = 20ms;
    tuning.pause_ratio = 0;
    SetLogSink([this](std::string_view line) {
      const std::lock_guard lock(log_mutex);
      log.emplace_back(line);
    });
  }
  ~World() {
    runner.reset();
    SetLogSink({});
  }

  void Open() {
    runner.reset();
    runner = std::make_unique<Runner>(options, sink, clock, counters);
    runner->Ready();
  }
  BackfillStatus WaitForEnd() {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (runner->Status().state == BackfillState::kRunning) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::sleep_for(1ms);
    }
    const std::lock_guard lock(sink.faults.mutex);
    CHECK(sink.faults.lines == std::vector<std::string>{});
    return runner->Status();
  }
  BackfillStatus RunAtStart() {
    Open();
    runner->StartIfDue();
    return WaitForEnd();
  }
  size_t Points(const std::string& series) {
    const std::lock_guard lock(sink.mutex);
    const auto found = sink.merged.find(series);
    return found == sink.merged.end() ? 0 : found->second.size();
  }
  bool LogHas(std::string_view text) {
    const std::lock_guard lock(log_mutex);
    return std::ranges::any_of(log, [&](const std::string& line) { return Has(line, text); });
  }
};

std::string CpuOf(const std::string& name_space) {
  return R"(container_cpu_usage_seconds_total{container="app", cpu="total", namespace=")" +
         name_space + R"(", pod="pod-1"})";
}

constexpr size_t kAllPoints = 4 * 60;

}  // namespace

TEST_CASE("what tells kills is asked for only of namespaces that had some", "[backfill][runner]") {
  World world;
  world.sink.metrics = ClusterAndKillMetrics();
  world.options.tuning.unit_namespaces = 3;
  for (const bool killed : {false, true}) {
    for (FakeSeries& one : KilledSeries(killed ? "b" : "a", "pod-1", killed)) {
      world.server.series.push_back(std::move(one));
    }
  }
  const BackfillStatus status = world.RunAtStart();
  INFO(status.error);
  CHECK(status.state == BackfillState::kFinished);
  CHECK(status.not_covered.empty());
  CHECK(world.Points(CpuOf("a")) == kAllPoints);
  const auto restarts = [&](const std::string& name_space) {
    return world.Points(R"(kube_pod_container_status_restarts_total{container="app", namespace=")" +
                        name_space + R"(", pod="pod-1"})");
  };
  CHECK(restarts("a") == 0);
  CHECK(restarts("b") == kAllPoints);
  size_t requests = 0;
  for (const std::string& query : world.server.RangeQueries()) {
    CHECK_FALSE(Has(query, "container_oom_events_total"));
    if (!Has(query, "kube_pod_container_")) continue;
    CHECK(Has(query, R"(namespace="b")"));
    requests += Has(query, R"(resource="memory")") ? 1 : 0;
  }
  CHECK(requests > 0);
}

TEST_CASE("at the first start the configured history is taken in, once", "[backfill][runner]") {
  World world;
  const BackfillStatus status = world.RunAtStart();
  INFO(status.error);
  CHECK(status.state == BackfillState::kFinished);
  CHECK(status.progress_ratio == 1);
  CHECK(status.namespaces_done == 3);
  CHECK(status.namespaces_total == 3);
  CHECK(status.not_covered_total == 0);
  CHECK(status.url == world.server.url());
  CHECK(status.end_ms == kEnd);
  CHECK(status.start_ms == kStart);
  CHECK(status.step_ms == kMinuteMs);
  CHECK(world.sink.end_ms == kEnd + 1);
  CHECK(world.sink.units == std::vector<std::set<std::string>>{{"/a"}, {"/b"}, {"/c"}});
  CHECK(world.sink.merged.size() == 9);
  for (const char* const name : {"a", "b", "c"}) {
    const Points& points = world.sink.merged[CpuOf(name)];
    REQUIRE(points.size() == kAllPoints);
    CHECK(points.front() == std::pair(kStart, static_cast<double>(kStart) / 1000));
    CHECK(points.back().first == kEnd);
  }
  CHECK(status.samples >= 9 * kAllPoints);
  CHECK(status.minutes == 9 * kAllPoints);
  CHECK(world.counters.merged_minutes == 9 * kAllPoints);
  CHECK(world.counters.last_finished_ms == kEnd + 5'000);
  CHECK(world.LogHas("back-fill begins"));
  CHECK(world.LogHas("back-fill is finished"));

  // Never again, by this process or the next.
  const size_t requests = world.server.requests();
  world.runner->StartIfDue();
  CHECK(world.RunAtStart().state == BackfillState::kFinished);
  CHECK(world.runner->Status().minutes == status.minutes);
  CHECK(world.server.requests() == requests);
}

TEST_CASE("a chosen step is never finer than the server's samples", "[backfill][runner]") {
  World world;
  world.server.sample_interval_ms = 5 * kMinuteMs;
  SECTION("chosen") {
    const BackfillStatus status = world.RunAtStart();
    CHECK(status.state == BackfillState::kFinished);
    CHECK(status.step_ms == 5 * kMinuteMs);
    CHECK(world.Points(CpuOf("a")) == 4 * 60 / 5);
  }
  SECTION("given") {
    world.options.step_ms = kMinuteMs;
    CHECK(world.RunAtStart().step_ms == kMinuteMs);
  }
  SECTION("a usual scrape interval changes nothing") {
    world.server.sample_interval_ms = 30'000;
    CHECK(world.RunAtStart().step_ms == kMinuteMs);
  }
  SECTION("too far apart for any step") {
    world.server.sample_interval_ms = 10 * kMinuteMs;
    const BackfillStatus status = world.RunAtStart();
    CHECK(status.step_ms == kMaxStepMs);
    CHECK(std::ranges::any_of(status.not_covered, [](const std::string& line) {
      return Has(line, "over 5 minutes apart");
    }));
  }
}

TEST_CASE("a past of another cluster than the live stream's is not taken in by mistake",
          "[backfill][runner]") {
  World world;
  world.sink.live = {{"eu", "a"}, {"eu", "kube-system"}};
  BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFailed);
  CHECK(Has(status.error, "external_labels cluster=eu"));
  CHECK(world.sink.merged.empty());
  // What was wrong with the first call does not rule the next.
  BackfillRequest request;
  request.external_labels = {{"cluster", "eu"}};
  const auto started = world.runner->Start(request);
  REQUIRE(started);
  CHECK_FALSE(*started);
  status = world.WaitForEnd();
  INFO(status.error);
  CHECK(status.state == BackfillState::kFinished);
  CHECK(world.sink.units.front() == std::set<std::string>{"eu/a"});
}

TEST_CASE("a step without a sample is left out, not filled with the last value",
          "[backfill][runner]") {
  World world;
  world.RunAtStart();
  for (const std::string& query : world.server.RangeQueries()) {
    INFO(query);
    CHECK(query.starts_with("last_over_time("));
    CHECK(query.ends_with("[59999ms])"));
  }
}

TEST_CASE("without a URL nothing begins by itself", "[backfill][runner]") {
  World world;
  world.options.http.url.clear();
  CHECK(world.RunAtStart().state == BackfillState::kIdle);
  CHECK(world.server.requests() == 0);
  CHECK(world.sink.cursor.empty());
  const auto no_url = world.runner->Start({});
  REQUIRE_FALSE(no_url);
  CHECK(no_url.error().code == ErrorCode::kInvalidArgument);
  CHECK(world.runner->Cancel().error().code == ErrorCode::kNotFound);
}

TEST_CASE("a job on request has its own range, and one runs at a time", "[backfill][runner]") {
  World world;
  const std::string url = world.options.http.url;
  world.options.http.url.clear();
  std::mutex mutex;
  std::unique_lock hold(mutex);
  world.server.instead = [&](const client::FakeRequest&) -> std::optional<std::string> {
    const std::lock_guard wait(mutex);
    return std::nullopt;
  };
  world.Open();
  BackfillRequest request;
  request.url = url + "/";
  request.start_ms = kEnd - 2 * kHour;
  request.end_ms = kEnd - kHour;
  request.step_ms = 30'000;
  CHECK(world.runner->Start(request) == false);
  CHECK(world.runner->Status().state == BackfillState::kRunning);
  const auto second = world.runner->Start(request);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::kUnavailable);
  hold.unlock();
  const BackfillStatus status = world.WaitForEnd();
  CHECK(status.state == BackfillState::kFinished);
  CHECK(status.url == url);
  CHECK(world.Points(CpuOf("a")) == 121);
}

TEST_CASE("wrong requests are refused before anything is asked", "[backfill][runner]") {
  World world;
  world.Open();
  const auto wrong = [&](const std::function<void(BackfillRequest&)>& change) {
    BackfillRequest request;
    request.url = world.options.http.url;
    change(request);
    const auto begun = world.runner->Start(request);
    REQUIRE_FALSE(begun);
    CHECK(begun.error().code == ErrorCode::kInvalidArgument);
    CHECK_FALSE(Has(begun.error().message, "hunter2"));
    return begun.error().message;
  };
  CHECK(Has(wrong([](auto& r) { r.step_ms = 600'000; }), "5 minutes"));
  CHECK(Has(wrong([](auto& r) { r.start_ms = kEnd + kHour; }), "before end"));
  CHECK(Has(wrong([](auto& r) { r.url = "http://u:hunter2@host"; }), "password"));
  CHECK(Has(wrong([](auto& r) { r.username = "a", r.bearer_token = "hunter2"; }), "one of them"));
  CHECK(Has(wrong([](auto& r) {
              r.external_labels = {{"a", std::string(10'000, 'x')}};
            }),
            "8 KiB"));
  CHECK(world.server.requests() == 0);
  CHECK(world.sink.cursor.empty());
}

TEST_CASE("a killed process goes on behind what was merged", "[backfill][runner][resume]") {
  World world;
  // The cursor as it was after the first merge.
  std::string after_first;
  {
    World first;
    int merges = 0;
    first.sink.before_merge = [&] { ++merges; };
    first.options.http.url = world.server.url();
    first.Open();
    first.runner->StartIfDue();
    first.WaitForEnd();
    REQUIRE(merges == 3);
    auto cursor = DecodeCursor(first.sink.cursor);
    REQUIRE(cursor);
    cursor->finished = false;
    cursor->last = NamespaceName{"", "a"};
    cursor->namespaces_done = 1;
    after_first = EncodeCursor(*cursor);
  }
  world.sink.cursor = after_first;
  world.clock.Set(FromUnixMs(kEnd + kHour));  // the range stays what it was
  SECTION("by itself") {
    const BackfillStatus status = world.RunAtStart();
    INFO(status.error);
    CHECK(status.state == BackfillState::kFinished);
    CHECK(status.end_ms == kEnd);
    CHECK(status.namespaces_done == 3);
    CHECK(status.namespaces_total == 3);
    CHECK(world.sink.units == std::vector<std::set<std::string>>{{"/b"}, {"/c"}});
  }
  SECTION("when asked again, with its own range") {
    world.Open();
    CHECK(world.runner->Status().state == BackfillState::kFailed);
    BackfillRequest request;
    request.url = world.server.url();
    request.start_ms = kEnd - 2 * kHour;
    CHECK(world.runner->Start(request) == true);
    const BackfillStatus status = world.WaitForEnd();
    CHECK(status.start_ms == kStart);
    CHECK(world.sink.units.size() == 2);
  }
  SECTION("unless it shall begin anew") {
    world.Open();
    BackfillRequest request;
    request.url = world.server.url();
    request.restart = true;
    CHECK(world.runner->Start(request) == false);
    CHECK(world.WaitForEnd().state == BackfillState::kFinished);
    CHECK(world.sink.units.size() == 3);
  }
  SECTION("not to another server than it began with") {
    world.options.http.url = "http://127.0.0.1:1";
    const BackfillStatus status = world.RunAtStart();
    CHECK(status.state == BackfillState::kFailed);
    CHECK(Has(status.error, "not configured any more"));
    CHECK(world.sink.units.empty());
  }
}

TEST_CASE("a missing metric is said once, whoever goes on", "[backfill][runner][resume]") {
  World world;
  std::erase_if(world.server.series, [](const FakeSeries& one) {
    return one.labels.at("__name__") == "container_memory_working_set_bytes";
  });
  world.sink.fail_next_merges = 1'000'000;
  CHECK(world.RunAtStart().not_covered_total == 1);
  CHECK(world.RunAtStart().not_covered_total == 1);
  world.sink.fail_next_merges = 0;
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  REQUIRE(status.not_covered_total == 1);
  CHECK(Has(status.not_covered[0], "missing metric: container_memory_working_set_bytes"));
}

TEST_CASE("a job with credentials of its own does not go on by itself",
          "[backfill][runner][resume]") {
  World world;
  world.options.http.url.clear();
  world.sink.fail_next_merges = 1'000'000;
  world.Open();
  BackfillRequest request;
  request.url = world.server.url();
  request.bearer_token = "hunter2";
  REQUIRE(world.runner->Start(request));
  const BackfillStatus failed = world.WaitForEnd();
  CHECK(failed.state == BackfillState::kFailed);
  CHECK(Has(failed.error, "the disk is full"));
  CHECK_FALSE(Has(world.sink.cursor, "hunter2"));
  world.sink.fail_next_merges = 0;
  CHECK(Has(world.RunAtStart().error, "credentials are not kept"));
  CHECK(world.sink.units.empty());
  CHECK(world.runner->Start(request) == false);  // nothing is in that it could go on behind
  CHECK(world.WaitForEnd().state == BackfillState::kFinished);
}

TEST_CASE("a mended URL is used when nothing was merged under the wrong one",
          "[backfill][runner][resume]") {
  World world;
  const std::string good = world.options.http.url;
  world.options.http.url = "http://127.0.0.1:" + std::to_string(client::ClosedPort());
  const BackfillStatus failed = world.RunAtStart();
  CHECK(failed.state == BackfillState::kFailed);
  CHECK(Has(failed.error, "unreachable"));
  CHECK(world.LogHas("goes on at the next start"));
  world.options.http.url = good;
  CHECK(world.RunAtStart().state == BackfillState::kFinished);
}

TEST_CASE("limits of the server make windows shorter, nothing is lost",
          "[backfill][runner][limits]") {
  World world;
  world.server.max_samples = 50;
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  CHECK(status.not_covered_total == 0);
  for (const char* const name : {"a", "b", "c"}) CHECK(world.Points(CpuOf(name)) == kAllPoints);
  CHECK(world.counters.queries_too_large > 0);
  CHECK(world.counters.queries_failed == 0);
  // The second unit begins with what the first has learned.
  CHECK(world.counters.queries_too_large < 20);
}

TEST_CASE("then fewer namespaces are asked for at a time", "[backfill][runner][limits]") {
  World world;
  world.options.tuning.unit_namespaces = 10;
  world.server.max_samples = 5;  // of one series, five points
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  CHECK(status.not_covered_total == 0);
  CHECK(world.sink.units.size() == 1);
  for (const char* const name : {"a", "b", "c"}) CHECK(world.Points(CpuOf(name)) == kAllPoints);
}

TEST_CASE("what cannot be had is said, in spans, and the rest is taken in",
          "[backfill][runner][limits]") {
  World world;
  world.server.instead = [](const client::FakeRequest& request) -> std::optional<std::string> {
    const std::string query = request.Parameter("query").value_or("");
    if (request.Path() != "/api/v1/query_range" || !Has(query, "namespace=\"b\"") ||
        !Has(query, "memory")) {
      return std::nullopt;
    }
    return PrometheusError(422, "execution", "exceeded series limit: limit 0 violated (got 1)");
  };
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  REQUIRE(status.not_covered_total == 1);
  CHECK(Has(status.not_covered[0], "container_memory_working_set_bytes of b, "));
  CHECK(Has(status.not_covered[0], TimeText(kStart) + " to " + TimeText(kEnd)));
  CHECK(Has(status.not_covered[0], "limit 0 violated"));
  CHECK(world.counters.last_error_ms != 0);
  for (const char* const name : {"a", "b", "c"}) CHECK(world.Points(CpuOf(name)) == kAllPoints);
  CHECK(world.sink.merged.size() == 8);
  CHECK(world.LogHas("back-fill did not cover"));
  // It is still known after a restart.
  world.Open();
  CHECK(world.runner->Status().not_covered == status.not_covered);
}

TEST_CASE("passing trouble is waited out", "[backfill][runner][retry]") {
  World world;
  std::atomic<int> asked{0};
  world.server.instead = [&](const client::FakeRequest&) -> std::optional<std::string> {
    switch (asked++ % 3) {
      case 0: return client::HttpAnswer(503, "busy", "text/plain");
      case 1: return client::HttpAnswer(429, "slow down", "text/plain");
      default: return std::nullopt;
    }
  };
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  CHECK(status.not_covered_total == 0);
  CHECK(world.counters.queries_retried == 2 * world.counters.queries_ok);
}

TEST_CASE("one bad window does not end the rest", "[backfill][runner][retry]") {
  World world;
  world.options.tuning.max_window = 1h;
  const std::string bad = SecondsText(kStart + kHour);  // the second of windows of 60 points
  world.server.instead = [&](const client::FakeRequest& request) -> std::optional<std::string> {
    if (request.Path() != "/api/v1/query_range" || request.Parameter("start") != bad ||
        !Has(request.Parameter("query").value(), "namespace=\"a\"")) {
      return std::nullopt;
    }
    return PrometheusError(500, "internal", "a block is damaged");
  };
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  CHECK(status.not_covered_total == 3);  // of each metric
  CHECK(world.Points(CpuOf("a")) == kAllPoints - 60);
  CHECK(world.Points(CpuOf("b")) == kAllPoints);
}

TEST_CASE("a server that breaks down ends the job, which goes on later",
          "[backfill][runner][retry]") {
  World world;
  world.options.tuning.max_window = 10min;
  std::atomic<bool> broken{false};
  world.sink.before_merge = [&] { broken = true; };  // after the first unit
  world.server.instead = [&](const client::FakeRequest&) -> std::optional<std::string> {
    if (!broken) return std::nullopt;
    return PrometheusError(500, "internal", "out of order");
  };
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFailed);
  CHECK(Has(status.error, "5 windows in a row failed, and now even vector(1) does"));
  CHECK(world.sink.units.size() == 1);
  broken = false;
  world.sink.before_merge = nullptr;
  const BackfillStatus again = world.RunAtStart();
  CHECK(again.state == BackfillState::kFinished);
  CHECK(again.not_covered_total == 0);
  CHECK(world.sink.units.size() == 3);
}

TEST_CASE("denied access ends the job with its message", "[backfill][runner]") {
  World world;
  world.server.instead = [](const client::FakeRequest&) {
    return client::HttpAnswer(401, "Unauthorized", "text/plain");
  };
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFailed);
  CHECK(Has(status.error, "answered 401"));
  CHECK(world.server.requests() == 1);
}

TEST_CASE("an unfinished job does not go on under labels that are no longer asked for",
          "[backfill][runner][resume]") {
  World world;
  world.options.external_labels = {{"cluster", "wrong"}, {"region", "r"}};
  std::atomic<bool> denied{false};
  world.sink.before_merge = [&] { denied = true; };  // after the first unit
  world.server.instead = [&](const client::FakeRequest&) -> std::optional<std::string> {
    if (!denied) return std::nullopt;
    return PrometheusError(401, "unauthorized", "who are you?");
  };
  CHECK(world.RunAtStart().state == BackfillState::kFailed);
  CHECK(world.sink.units.size() == 1);
  denied = false;
  world.sink.before_merge = nullptr;
  BackfillRequest request;
  bool goes_on = false;
  SECTION("other ones") { request.external_labels = {{"cluster", "right"}, {"region", "r"}}; }
  SECTION("the same ones in another order") {
    request.external_labels = {{"region", "r"}, {"cluster", "wrong"}};
    goes_on = true;
  }
  SECTION("none") { goes_on = true; }
  CHECK(world.runner->Start(request) == goes_on);
  CHECK(world.WaitForEnd().state == BackfillState::kFinished);
  const auto cursor = DecodeCursor(world.sink.cursor);
  REQUIRE(cursor);
  CHECK(cursor->external_labels.front().second == (goes_on ? "wrong" : "right"));
}

TEST_CASE("a past that live samples overtake is built again, a few times",
          "[backfill][runner][merge]") {
  World world;
  SECTION("and is merged then") {
    world.sink.overtake_next = 2;
    const BackfillStatus status = world.RunAtStart();
    CHECK(status.not_covered_total == 0);
    CHECK(world.sink.units.size() == 3);
    CHECK(world.sink.opened == 5);
    CHECK(status.notes.size() == 1);
  }
  SECTION("or said") {
    world.sink.overtake_next = 4;
    const BackfillStatus status = world.RunAtStart();
    CHECK(status.state == BackfillState::kFinished);
    REQUIRE(status.not_covered_total == 1);
    CHECK(Has(status.not_covered[0], "all of a: live samples overtook"));
    CHECK(world.sink.units.size() == 2);
  }
}

TEST_CASE("a disk that is full for a while is waited for", "[backfill][runner][merge]") {
  World world;
  world.sink.fail_next_merges = 3;
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  CHECK(world.sink.opened == 3);  // nothing was asked for twice
}

TEST_CASE("cancelling and stopping end a job at once, and it goes on",
          "[backfill][runner][cancel]") {
  World world;
  std::mutex mutex;
  std::condition_variable wake;
  bool silent_reached = false;
  std::atomic<bool> silent{false};
  world.sink.before_merge = [&] { silent = true; };
  world.server.instead = [&](const client::FakeRequest& request) -> std::optional<std::string> {
    if (!silent || request.Path() != "/api/v1/query_range") return std::nullopt;
    const std::lock_guard lock(mutex);
    silent_reached = true;
    wake.notify_all();
    return "";  // asked again and again
  };
  world.options.tuning.unreachable_for = 1h;
  world.options.tuning.retry_first = 1h;
  world.options.tuning.retry_longest = 1h;
  world.Open();
  world.runner->StartIfDue();
  {
    std::unique_lock lock(mutex);
    REQUIRE(wake.wait_for(lock, 60s, [&] { return silent_reached; }));
  }
  const auto begin = std::chrono::steady_clock::now();
  SECTION("cancelled") {
    REQUIRE(world.runner->Cancel());
    CHECK(world.WaitForEnd().state == BackfillState::kCancelled);
  }
  SECTION("stopped") {
    world.runner->Stop();
    CHECK(world.runner->Status().state == BackfillState::kCancelled);
    CHECK(world.runner->Start({}).error().code == ErrorCode::kUnavailable);
  }
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
  silent = false;
  world.sink.before_merge = nullptr;
  CHECK(world.RunAtStart().state == BackfillState::kFinished);
  CHECK(world.sink.units.size() == 3);
}

TEST_CASE("several queries at a time give the same", "[backfill][runner][concurrency]") {
  World world;
  world.options.concurrency = 4;
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  CHECK(world.sink.merged.size() == 9);
  for (const char* const name : {"a", "b", "c"}) CHECK(world.Points(CpuOf(name)) == kAllPoints);
}

TEST_CASE("a partial answer is taken in and said", "[backfill][runner]") {
  World world;
  world.server.instead = [&](const client::FakeRequest& request) -> std::optional<std::string> {
    if (request.Path() != "/api/v1/query_range" ||
        !Has(request.Parameter("query").value(), "namespace=\"a\"")) {
      return std::nullopt;
    }
    return client::HttpAnswer(200, R"({"status":"success","data":{"resultType":"matrix",)"
                                   R"("result":[]},"warnings":["store s1 is away"]})");
  };
  const BackfillStatus status = world.RunAtStart();
  CHECK(status.state == BackfillState::kFinished);
  REQUIRE(status.not_covered_total == 1);
  CHECK(Has(status.not_covered[0], "some of a, "));
  CHECK(Has(status.not_covered[0], "store s1 is away"));
}

TEST_CASE("a cursor of a newer release is left alone", "[backfill][runner][resume]") {
  World world;
  world.sink.cursor = "\x09 something else";
  CHECK(world.RunAtStart().state == BackfillState::kIdle);
  CHECK(world.sink.cursor == "\x09 something else");
  CHECK(world.LogHas("newer release"));
}

TEST_CASE("credentials of one server are not told to another", "[backfill][runner][auth]") {
  World world;
  FakePrometheus other;
  std::mutex mutex;
  std::set<std::string> seen;
  other.instead = [&](const client::FakeRequest& request) -> std::optional<std::string> {
    const std::lock_guard lock(mutex);
    seen.insert(request.Header("Authorization") + "|" + request.Header("X-Scope-OrgID"));
    return std::nullopt;
  };
  world.options.http.authorization.credentials = "configured";
  world.options.http.http_headers = {{"X-Scope-OrgID", "configured"}};
  world.Open();
  BackfillRequest request;
  request.url = other.url();
  REQUIRE(world.runner->Start(request));
  CHECK(world.WaitForEnd().state == BackfillState::kFailed);  // it has no series
  CHECK(seen == std::set<std::string>{"|"});
}

}  // namespace tidemark::backfill
