// HA pairs through the receiver: what reaches the engine, what is shed, and what is answered.
#include <random>

#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

struct HaFixture : HandlerFixture {
  explicit HaFixture(HaOptions ha_options = {}, Limits limits = {})
      : HaFixture(std::make_unique<HaTracker>(std::move(ha_options)), limits) {}

  uint64_t Shed() const {
    return counters.samples_ignored[static_cast<size_t>(IgnoreReason::kHaCopy)];
  }
  void After(int64_t ms) { clock.Set(clock.Now() + std::chrono::milliseconds(ms)); }

  std::unique_ptr<HaTracker> tracker;

 private:
  HaFixture(std::unique_ptr<HaTracker> made, Limits limits)
      : HandlerFixture(limits, {.accepting = {}, .jitter_seed = {}, .ha = made.get()}),
        tracker(std::move(made)) {}
};

/// `up` of a pod, as replica `replica` of cluster `cluster` sends it.
std::string From(const std::string& replica, const std::string& pod = "p",
                 const std::string& cluster = "eu") {
  LabelList labels = {{"__name__", "up"}};
  if (!replica.empty()) labels.emplace_back("__replica__", replica);
  if (!cluster.empty()) labels.emplace_back("cluster", cluster);
  labels.emplace_back("pod", pod);
  return Series(labels, 1, kNowMs);
}

const LabelList kPlain = {{"__name__", "up"}, {"cluster", "eu"}, {"pod", "p"}};

}  // namespace

TEST_CASE("row 44: the copy of the replica that does not lead is answered 204 and counted",
          "[remote_write][ha]") {
  HaFixture fixture;
  CHECK(fixture.SendMessage(From("a")).status == 204);
  const HttpResponse response = fixture.SendMessage(
      From("b") + From("b", "q") +
      Series(Labels({{"__name__", "up"}, {"__replica__", "b"}, {"cluster", "eu"}}) +
             SampleField(1, kNowMs) + SampleField(1, 5) +  // not even looked at
             BytesField(4, VarintField(1, 99)) + BytesField(3, "")));
  CHECK(response.status == 204);
  CHECK(response.body.empty());
  REQUIRE(fixture.sink.series.size() == 1);
  CHECK(fixture.sink.series[0].labels == kPlain);
  CHECK(fixture.sink.series[0].from_ha_pair);
  CHECK(fixture.Shed() == 4);
  CHECK(fixture.counters.samples_accepted == 1);
  CHECK(fixture.TotalRejected() == 0);
  CHECK(fixture.counters.histograms == 1);
  CHECK(fixture.counters.exemplars == 1);
  CHECK(fixture.counters.series_without_replica == 0);
  CHECK(fixture.sink.commits == 1);  // for what is shed the engine is not asked
}

TEST_CASE("each series is judged by its own labels and not by the first of its request",
          "[remote_write][ha]") {
  HaFixture fixture;
  fixture.SendMessage(From("a", "p", "eu") + From("b", "p", "us"));
  fixture.sink.series.clear();
  // The first series is shed, and one in the middle is of no pair at all.
  fixture.SendMessage(From("b", "1", "eu") + From("b", "2", "us") + From("", "3", "eu") +
                      From("a", "4", "eu") + From("a", "5", "us") + From("b", "6", "us"));
  std::vector<std::string> pods;
  for (const RecordedSeries& series : fixture.sink.series) {
    pods.push_back(series.labels.back().second);
    CHECK(series.from_ha_pair == (series.labels.back().second != "3"));
  }
  CHECK(pods == std::vector<std::string>{"2", "3", "4", "6"});
  CHECK(fixture.Shed() == 2);
  CHECK(fixture.counters.series_without_replica == 1);
}

TEST_CASE("a series without a replica label, or with an empty one, is no copy",
          "[remote_write][ha]") {
  HaFixture fixture;
  fixture.SendMessage(From("a"));
  const LabelList empty = {
      {"__name__", "up"}, {"__replica__", ""}, {"cluster", "eu"}, {"pod", "p"}};
  fixture.SendMessage(Series(empty, 1, kNowMs) + From(""));
  REQUIRE(fixture.sink.series.size() == 3);
  CHECK(fixture.sink.series[1].labels == kPlain);
  CHECK_FALSE(fixture.sink.series[1].from_ha_pair);
  CHECK(fixture.counters.series_without_replica == 2);
}

TEST_CASE("all replica labels are taken off and the first of them names the replica",
          "[remote_write][ha]") {
  HaFixture fixture({.replica_labels = {"prometheus_replica", "__replica__"}});
  const auto labels = [](const std::string& underscored, const std::string& plain) {
    return LabelList{{"__name__", "up"},
                     {"__replica__", underscored},
                     {"cluster", "eu"},
                     {"pod", "p"},
                     {"prometheus_replica", plain}};
  };
  fixture.SendMessage(Series(labels("x", "k8s-0"), 1, kNowMs));
  fixture.SendMessage(Series(labels("y", "k8s-0"), 1, kNowMs));
  fixture.SendMessage(Series(labels("k8s-0", "k8s-1"), 1, kNowMs));
  fixture.SendMessage(Series(labels("k8s-0", ""), 1, kNowMs));
  REQUIRE(fixture.sink.series.size() == 3);
  for (const RecordedSeries& series : fixture.sink.series) CHECK(series.labels == kPlain);
  CHECK(fixture.Shed() == 1);
}

TEST_CASE("without replica labels nothing is shed and the labels stay", "[remote_write][ha]") {
  HaFixture fixture({.replica_labels = {}});
  fixture.SendMessage(From("a"));
  fixture.SendMessage(From("b"));
  CHECK(fixture.sink.series.size() == 2);
  CHECK(fixture.sink.series[0].labels.size() == 4);
  CHECK_FALSE(fixture.sink.series[0].from_ha_pair);
  CHECK(fixture.counters.series_without_replica == 0);
  CHECK(fixture.tracker->HaClusters().empty());
}

TEST_CASE("after the leader's silence the other replica is taken, and the metrics' source says so",
          "[remote_write][ha]") {
  HaFixture fixture({.failover_timeout_ms = 5000});
  fixture.SendMessage(From("a"));
  fixture.After(4999);
  fixture.SendMessage(From("b"));
  CHECK(fixture.Shed() == 1);
  fixture.After(1);
  fixture.SendMessage(From("b"));
  CHECK(fixture.Shed() == 1);
  CHECK(fixture.sink.series.size() == 2);
  const auto status = fixture.tracker->HaClusters();
  REQUIRE(status.size() == 1);
  CHECK(status[0].cluster == "eu");
  CHECK(status[0].failovers == 1);
  CHECK(status[0].replicas[1].leads);
}

TEST_CASE("a request that is answered 503 elects nobody, and its copies are not counted",
          "[remote_write][ha]") {
  HaFixture fixture;
  fixture.SendMessage(From("z", "p", "us"));
  fixture.sink.error = Error{ErrorCode::kUnavailable, "full"};
  CHECK(fixture.SendMessage(From("a") + From("b", "p", "us")).status == 503);
  CHECK(fixture.Shed() == 0);
  fixture.sink.error.reset();
  CHECK(fixture.SendMessage(From("b")).status == 204);
  CHECK(fixture.SendMessage(From("a")).status == 204);
  CHECK(fixture.Shed() == 1);
  for (const HaClusterStatus& status : fixture.tracker->HaClusters()) {
    CHECK(status.failovers == 0);
    for (const HaReplicaStatus& replica : status.replicas) {
      CHECK(replica.leads == (replica.replica == (status.cluster == "eu" ? "b" : "z")));
    }
  }
}

TEST_CASE("a leader whose samples are all refused is silent", "[remote_write][ha]") {
  HaFixture fixture({.failover_timeout_ms = 5000});
  fixture.SendMessage(From("a"));
  const LabelList labels = {{"__name__", "up"}, {"__replica__", "a"}, {"cluster", "eu"}};
  for (int i = 0; i < 5; ++i) {
    fixture.After(1000);
    SECTION("here") { fixture.SendMessage(Series(labels, 1, 5)); }
    SECTION("by their labels") {
      fixture.SendMessage(Series(Label("__replica__", "a") + Label("cluster", "eu")));
    }
    SECTION("by the engine") {
      WriteVerdict verdict;
      verdict.Reject(RejectReason::kSeriesLimit);
      fixture.sink.verdict = verdict;
      CHECK(fixture.SendMessage(From("a")).status == 400);
      fixture.sink.verdict.reset();
    }
  }
  fixture.After(5000);
  const uint64_t shed = fixture.Shed();
  fixture.SendMessage(From("b"));
  CHECK(fixture.Shed() == shed);
}

TEST_CASE("series of a pair beyond the ceiling are refused, the good rest is taken",
          "[remote_write][ha]") {
  HaFixture fixture({.max_clusters = 1});
  fixture.SendMessage(From("a"));
  const HttpResponse response =
      fixture.SendMessage(From("a", "p", "us") + From("a", "q") + From("", "r", "us"));
  CHECK(response.status == 400);
  CHECK(response.body.starts_with("ha_cluster_limit: "));
  CHECK(response.body.find("samples=1 series=1; taken in: samples=2") != std::string::npos);
  CHECK(fixture.Rejected(RejectReason::kHaClusterLimit) == 1);
  CHECK(fixture.SeriesRejected(RejectReason::kHaClusterLimit) == 1);
  CHECK(fixture.sink.series.size() == 3);
}

TEST_CASE("a million names of pairs in one body cost no memory", "[remote_write][ha]") {
  HaFixture fixture({.max_clusters = 10});
  std::string message;
  for (int i = 0; i < 20'000; ++i) message += From("a", "p", std::to_string(i));
  CHECK(fixture.SendMessage(message).status == 400);
  CHECK(fixture.tracker->HaClusters().size() == 10);
  CHECK(fixture.Rejected(RejectReason::kHaClusterLimit) == 20'000 - 10);
}

TEST_CASE("with its replica label taken off a series is the same, however its labels came",
          "[remote_write][ha]") {
  const uint32_t seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::vector<std::string> replica_names = {"__replica__", "a", "m", "zz"};
  for (int round = 0; round < 300; ++round) {
    std::map<std::string, std::string> wanted = {{"__name__", "up"}};
    for (auto i = random() % 6; i > 0; --i) {
      wanted[std::string(1 + random() % 3, static_cast<char>('b' + random() % 24))] =
          std::string(1 + random() % 200, 'v');
    }
    for (const std::string& name : replica_names) wanted.erase(name);
    LabelList sent(wanted.begin(), wanted.end());
    const size_t replicas = 1 + random() % replica_names.size();
    for (size_t i = 0; i < replicas; ++i) sent.emplace_back(replica_names[i], "r");
    std::sort(sent.begin(), sent.end());
    const bool tidy = random() % 2 == 0;
    if (!tidy) std::shuffle(sent.begin(), sent.end(), random);
    HaFixture fixture({.cluster_labels = {}, .replica_labels = replica_names});
    REQUIRE(fixture.SendMessage(Series(sent, 1, kNowMs)).status == 204);
    REQUIRE(fixture.sink.series.size() == 1);  // the sink checks the bytes against the labels
    REQUIRE(fixture.sink.series[0].labels == LabelList(wanted.begin(), wanted.end()));
  }
}
