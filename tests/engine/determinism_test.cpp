// The same bodies in the same order give the same recommendation lines to the byte, whatever the
// number of shards, and whether they arrive over hours (with ticks in between) or at once.
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "exporter/routes.h"
#include "remote_write/handler.h"
#include "tests/engine/feed.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

enum class Arrival { kOverTime, kAtOnce };

/// The advice on /metrics.
std::string Lines(engine::Engine& engine, const Clock& clock) {
  static const RemoteWriteCounters remote_write;
  static const HttpCounters http;
  static const EngineCounters counters;
  const auto routes = exporter::Routes({.snapshots = engine,
                                        .state = engine,
                                        .remote_write = remote_write,
                                        .http = http,
                                        .engine = counters,
                                        .clock = clock,
                                        .build = {},
                                        .started = clock.Now(),
                                        .storage_path = "",
                                        .config_yaml = [] { return std::string(); },
                                        .ready = [] { return true; }});
  engine.Tick();
  for (const HttpRoute& route : routes) {
    if (route.path != "/metrics") continue;
    HttpRequest request;
    request.method = "GET";
    request.path = "/metrics";
    std::istringstream page(route.handler(request).body);
    std::string lines;
    for (std::string line; std::getline(page, line);) {
      for (const char* name :
           {"tidemark_recommend", "tidemark_model_", "tidemark_current_", "tidemark_reclaimable"}) {
        if (line.starts_with(name)) lines += line + "\n";
      }
    }
    return lines;
  }
  FAIL("no /metrics");
  return {};
}

using Requests = std::vector<std::vector<FeedSeries>>;

std::string Replay(const Requests& requests, size_t shards, Arrival arrival) {
  engine::Options options;
  options.shards = shards;
  Bench bench(options);
  int64_t newest = 0;
  for (const auto& request : requests) {
    for (const auto& series : request) {
      for (const Sample& sample : series.samples) newest = std::max(newest, sample.timestamp_ms);
    }
  }
  int count = 0;
  for (const auto& request : requests) {
    if (arrival == Arrival::kAtOnce) {
      bench.clock.Set(FromUnixMs(newest));
      Write(bench.engine, request);
    } else {
      bench.Put(request);
      if (++count % 7 == 0) bench.engine.Tick();
    }
  }
  return Lines(bench.engine, bench.clock);
}

/// Hours of a small cluster with pods that come, restart, vanish and whose owners come late; series
/// of a namespace in changing order.
Requests Cluster(uint32_t seed) {
  std::mt19937 random(seed);
  Requests requests;
  std::map<std::string, double> spent;
  std::map<std::string, int> run;
  for (int tick = 0; tick < 8 * 120; ++tick) {  // eight hours, every 30 s
    const int64_t at = kT0 + tick * 30'000LL;
    std::vector<FeedSeries> request;
    for (int w = 0; w < 12; ++w) {
      const std::string ns = "ns-" + std::to_string(w % 5);
      const std::string hash = std::to_string(tick / 300);
      const std::string replicaset = "w" + std::to_string(w) + "-" + hash;
      for (int p = 0; p < 3; ++p) {
        const std::string pod = replicaset + "-p" + std::to_string(p);
        if (random() % 500 == 0) {
          ++run[pod];
          spent[pod] = 0;
        }
        const double cores = 0.05 * (w + 1) * (0.5 + static_cast<double>(random() % 1000) / 1000);
        spent[pod] += cores * 30;
        LabelMap cpu = Cpu(pod, "app", ns);
        LabelMap memory = Memory(pod, "app", ns);
        cpu["id"] = memory["id"] = "/" + pod + "/" + std::to_string(run[pod]);
        const int64_t jitter = random() % 4000;
        request.push_back({cpu, {{at + jitter, spent[pod]}}});
        request.push_back(
            {memory, {{at + jitter, 1e8 + 1e6 * static_cast<double>(random() % 400)}}});
        if (tick % 300 >= 4)
          request.push_back({PodOwner(pod, "ReplicaSet", replicaset, ns), {{at, 1}}});
      }
      if (tick % 300 >= 8 || w % 3 != 0) {
        request.push_back(
            {ReplicaSetOwner(replicaset, "Deployment", "w" + std::to_string(w), ns), {{at, 1}}});
      }
    }
    std::shuffle(request.begin(), request.end(), random);
    requests.push_back(std::move(request));
  }
  return requests;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Body {
  std::string bytes;
  int64_t arrived_ms;
  bool v2 = false;
};

std::string ReplayBodies(const std::vector<Body>& bodies, size_t shards, Arrival arrival) {
  engine::Options options;
  options.shards = shards;
  Bench bench(options);
  RemoteWriteCounters counters;
  remote_write::Handler handler(bench.engine, bench.clock, {}, counters);
  for (const Body& body : bodies) {
    bench.clock.Set(
        FromUnixMs(arrival == Arrival::kOverTime ? body.arrived_ms : bodies.back().arrived_ms));
    HttpRequest request;
    request.method = "POST";
    request.path = "/api/v1/write";
    request.headers = {
        {"Content-Type", body.v2 ? "application/x-protobuf;proto=io.prometheus.write.v2.Request"
                                 : "application/x-protobuf"},
        {"Content-Encoding", "snappy"}};
    request.body = body.bytes;
    REQUIRE(handler.Handle(request).status == 204);
    if (arrival == Arrival::kOverTime) bench.engine.Tick();
  }
  return Lines(bench.engine, bench.clock);
}

}  // namespace

TEST_CASE("shards and arrival change no line of a simulated cluster", "[engine][determinism]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  const Requests requests = Cluster(seed);
  const std::string expected = Replay(requests, 1, Arrival::kOverTime);
  REQUIRE(std::count(expected.begin(), expected.end(), '\n') >= 12 * 2 * 3);
  for (const size_t shards : {1, 2, 7}) {
    CHECK(Replay(requests, shards, Arrival::kAtOnce) == expected);
    CHECK(Replay(requests, shards, Arrival::kOverTime) == expected);
  }
}

TEST_CASE("shards and arrival change no line of recorded traffic", "[engine][determinism]") {
  const char* other = std::getenv("TIDEMARK_PAYLOADS");
  const std::string folder =
      (other != nullptr ? std::string(other) : TIDEMARK_TEST_DATA "/payloads") + "/rw1/";
  const auto index = boost::json::parse(ReadFile(folder + "index.json"));
  std::vector<Body> bodies;
  for (const auto& body : index.at("bodies").as_array()) {
    bodies.push_back({ReadFile(folder + std::string(body.at("file").as_string())),
                      body.at("arrived_ms").to_number<int64_t>()});
  }
  std::stable_sort(bodies.begin(), bodies.end(),
                   [](const Body& a, const Body& b) { return a.arrived_ms < b.arrived_ms; });
  const std::string expected = ReplayBodies(bodies, 1, Arrival::kOverTime);
  // Most of the capture's 40 workloads have a request and a recommendation.
  CHECK(std::count(expected.begin(), expected.end(), '\n') > 200);
  for (const size_t shards : {1, 2, 5}) {
    CHECK(ReplayBodies(bodies, shards, Arrival::kAtOnce) == expected);
    CHECK(ReplayBodies(bodies, shards, Arrival::kOverTime) == expected);
  }
}

TEST_CASE("the same data over 1.0 and 2.0 give the same lines", "[engine][determinism]") {
  const char* other = std::getenv("TIDEMARK_PAYLOADS");
  const std::string folder = other != nullptr ? std::string(other) : TIDEMARK_TEST_DATA "/payloads";
  const auto index_v1 = boost::json::parse(ReadFile(folder + "/rw1/index.json"));
  const auto index_v2 = boost::json::parse(ReadFile(folder + "/rw2/index.json"));
  std::map<std::string, int64_t> arrived_ms;  // the bodies of 2.0 were never on a wire
  for (const auto& body : index_v1.at("bodies").as_array()) {
    arrived_ms[std::string(body.at("file").as_string())] =
        body.at("arrived_ms").to_number<int64_t>();
  }
  std::vector<Body> v1;
  std::vector<Body> v2;
  for (const auto& body : index_v2.at("bodies").as_array()) {
    const std::string file(body.at("file").as_string());
    const auto arrived = arrived_ms.find(file);
    if (arrived == arrived_ms.end()) continue;  // with series of its own
    v1.push_back({ReadFile(folder + "/rw1/" + file), arrived->second, false});
    v2.push_back({ReadFile(folder + "/rw2/" + file), arrived->second, true});
  }
  const std::string expected = ReplayBodies(v1, 2, Arrival::kOverTime);
  CHECK(std::count(expected.begin(), expected.end(), '\n') > 200);
  CHECK(ReplayBodies(v2, 2, Arrival::kOverTime) == expected);
  CHECK(ReplayBodies(v2, 5, Arrival::kAtOnce) == expected);
  // A sender that falls back in the middle, or goes the other way, is the same sender.
  std::vector<Body> mixed;
  for (size_t i = 0; i < v1.size(); ++i) mixed.push_back(i % 3 == 0 ? v2[i] : v1[i]);
  CHECK(ReplayBodies(mixed, 2, Arrival::kOverTime) == expected);
}
