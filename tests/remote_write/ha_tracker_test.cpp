// Elections: who is taken, who is shed, and when that changes.
#include "remote_write/ha_tracker.h"

#include <algorithm>
#include <thread>

#include "model/log.h"
#include "remote_write/ha_request.h"
#include "tests/catch.h"

using namespace tidemark;
using namespace tidemark::remote_write;

namespace {

constexpr int64_t kT0 = 1'700'000'000'000;
constexpr int64_t kTimeout = 30'000;

/// One request of one series, with a label `cluster`.
class Sender {
 public:
  Sender(HaTracker& tracker, int64_t now_ms, std::string replica, std::string cluster = "eu")
      : replica_(std::move(replica)),
        cluster_(std::move(cluster)),
        labels_{{"__name__", "up"}, {"cluster", cluster_}},
        request_(tracker, now_ms),
        decision_(request_.Decide(labels_, replica_)) {
    request_.Count(1);
  }
  HaDecision decision() const { return decision_; }
  void Answer(bool applied = true) { request_.Answered(applied); }

 private:
  std::string replica_;
  std::string cluster_;
  std::vector<LabelView> labels_;
  HaRequest request_;
  HaDecision decision_;
};

/// Sends, is answered 204, and says what became of it.
HaDecision Send(HaTracker& tracker, int64_t now_ms, const std::string& replica,
                const std::string& cluster = "eu") {
  Sender sender(tracker, now_ms, replica, cluster);
  sender.Answer();
  return sender.decision();
}

std::string Leader(const HaTracker& tracker, const std::string& cluster = "eu") {
  for (const HaClusterStatus& status : tracker.HaClusters()) {
    if (status.cluster != cluster) continue;
    for (const HaReplicaStatus& replica : status.replicas) {
      if (replica.leads) return replica.replica;
    }
  }
  return "";
}

uint64_t Failovers(const HaTracker& tracker) { return tracker.HaClusters().at(0).failovers; }

constexpr auto kTake = HaDecision::kTake;
constexpr auto kShed = HaDecision::kShed;
constexpr auto kRefuse = HaDecision::kRefuse;

}  // namespace

TEST_CASE(
    "the first replica leads and the other is shed until the leader was silent for the timeout",
    "[remote_write][ha]") {
  HaTracker tracker({});
  CHECK(tracker.HaClusters().empty());
  CHECK(Send(tracker, kT0, "a") == kTake);
  CHECK(Send(tracker, kT0, "b") == kShed);
  CHECK(Send(tracker, kT0 + 20'000, "a") == kTake);
  CHECK(Send(tracker, kT0 + 20'000 + kTimeout - 1, "b") == kShed);
  CHECK(Leader(tracker) == "a");
  CHECK(Send(tracker, kT0 + 20'000 + kTimeout, "b") == kTake);
  CHECK(Leader(tracker) == "b");
  CHECK(Failovers(tracker) == 1);
  CHECK(Send(tracker, kT0 + 20'000 + kTimeout, "a") == kShed);

  const auto status = tracker.HaClusters();
  REQUIRE(status.size() == 1);
  REQUIRE(status[0].replicas.size() == 2);
  CHECK(status[0].replicas[0].replica == "a");
  CHECK(status[0].replicas[0].samples_taken == 2);
  CHECK(status[0].replicas[0].samples_shed == 1);
  CHECK(status[0].replicas[0].last_received_ms == kT0 + 20'000 + kTimeout);
  CHECK(status[0].replicas[1].samples_taken == 1);
  CHECK(status[0].replicas[1].samples_shed == 2);
}

TEST_CASE("a leader that was silent for long goes on when nobody has taken over",
          "[remote_write][ha]") {
  HaTracker tracker({});
  Send(tracker, kT0, "a");
  CHECK(Send(tracker, kT0 + 10 * kTimeout, "a") == kTake);
  CHECK(Failovers(tracker) == 0);
  CHECK(Send(tracker, kT0 + 10 * kTimeout + 1, "b") == kShed);
}

TEST_CASE("pairs do not know of each other, also within one request", "[remote_write][ha]") {
  HaTracker tracker({.cluster_labels = {"cluster", "prometheus"}});
  const std::vector<LabelView> first = {{"cluster", "eu"}, {"prometheus", "m/k8s"}};
  const std::vector<LabelView> second = {{"cluster", "eu"}, {"prometheus", "n/k8s"}};
  {
    HaRequest request(tracker, kT0);
    CHECK(request.Decide(first, "a") == kTake);
    request.Count(2);
    CHECK(request.Decide(second, "b") == kTake);
    request.Count(3);
    CHECK(request.Decide(first, "b") == kShed);
    request.Count(5);
    CHECK(request.Decide(first, "a") == kTake);  // asked once, counted on
    request.Count(7);
    request.Answered(true);
  }
  const auto status = tracker.HaClusters();
  REQUIRE(status.size() == 2);
  CHECK(status[0].cluster == "eu;m/k8s");
  CHECK(status[0].replicas[0].samples_taken == 9);
  CHECK(status[0].replicas[1].samples_shed == 5);
  CHECK(Leader(tracker, "eu;m/k8s") == "a");
  CHECK(Leader(tracker, "eu;n/k8s") == "b");
}

TEST_CASE("an absent cluster label is an empty value, and no two pairs share a name",
          "[remote_write][ha]") {
  HaTracker tracker({.cluster_labels = {"x", "y"}});
  const std::vector<std::vector<LabelView>> pairs = {
      {}, {{"x", ";"}}, {{"y", ";"}}, {{"x", "\\"}}, {{"x", "\\;"}}, {{"x", "\\"}, {"y", ";"}}};
  for (const auto& labels : pairs) {
    HaRequest request(tracker, kT0);
    CHECK(request.Decide(labels, std::to_string(labels.size())) == kTake);
    request.Count(1);
    request.Answered(true);
  }
  CHECK(tracker.HaClusters().size() == pairs.size());
  CHECK(tracker.HaClusters().front().cluster == ";");
}

TEST_CASE("of two that race at the first election one is taken", "[remote_write][ha]") {
  HaTracker tracker({});
  Sender a(tracker, kT0, "a");
  Sender b(tracker, kT0, "b");
  CHECK(a.decision() == kTake);
  CHECK(b.decision() == kShed);
  b.Answer();
  CHECK(Leader(tracker).empty());  // nothing of a was applied yet
  a.Answer();
  CHECK(Leader(tracker) == "a");
}

TEST_CASE("a request that is answered 503 elects nobody and counts nothing", "[remote_write][ha]") {
  HaTracker tracker({});
  { const Sender lost(tracker, kT0, "a"); }
  CHECK(Leader(tracker).empty());
  CHECK(Send(tracker, kT0 + 1, "b") == kTake);
  CHECK(Leader(tracker) == "b");
  SECTION("nor does it keep a leader in its place") {
    { const Sender lost(tracker, kT0 + kTimeout, "b"); }
    CHECK(Send(tracker, kT0 + 1 + kTimeout, "a") == kTake);
    CHECK(Failovers(tracker) == 1);
  }
  SECTION("nor does it end the lead of the one who was silent") {
    { const Sender lost(tracker, kT0 + 1 + kTimeout, "a"); }
    CHECK(Leader(tracker) == "b");
    CHECK(Send(tracker, kT0 + 2 + kTimeout, "b") == kTake);
    CHECK(Failovers(tracker) == 0);
  }
  CHECK(tracker.HaClusters()[0].replicas[0].samples_shed == 0);
}

TEST_CASE("a claim lasts as long as one of its requests is under way", "[remote_write][ha]") {
  HaTracker tracker({});
  Send(tracker, kT0, "a");
  const int64_t later = kT0 + kTimeout;
  auto first = std::make_unique<Sender>(tracker, later, "b");
  Sender second(tracker, later, "b");
  CHECK(first->decision() == kTake);
  CHECK(second.decision() == kTake);
  CHECK(Send(tracker, later, "a") == kShed);  // the old leader is back, but too late
  first.reset();                              // 503
  CHECK(Send(tracker, later, "c") == kShed);
  second.Answer();
  CHECK(Leader(tracker) == "b");
  CHECK(Failovers(tracker) == 1);
}

TEST_CASE("an old claim's request that comes late touches no newer claim", "[remote_write][ha]") {
  HaTracker tracker({});
  auto old = std::make_unique<Sender>(tracker, kT0, "a");
  Sender wins(tracker, kT0, "a");
  wins.Answer();
  CHECK(Send(tracker, kT0 + kTimeout, "b") == kTake);
  Sender again(tracker, kT0 + 2 * kTimeout, "a");
  old.reset();  // the first request ends only now
  CHECK(Send(tracker, kT0 + 2 * kTimeout, "c") == kShed);
  again.Answer();
  CHECK(Leader(tracker) == "a");
}

TEST_CASE("what an old leader still has under way does not bring its lead back",
          "[remote_write][ha]") {
  HaTracker tracker({});
  Send(tracker, kT0, "a");
  Sender slow(tracker, kT0 + 1, "a");
  CHECK(Send(tracker, kT0 + kTimeout, "b") == kTake);
  slow.Answer();
  CHECK(Leader(tracker) == "b");
  CHECK(Send(tracker, kT0 + kTimeout + 1, "a") == kShed);
}

TEST_CASE("a leader of which all is refused, or that sends no samples, is silent",
          "[remote_write][ha]") {
  HaTracker tracker({});
  Send(tracker, kT0, "a");
  for (int64_t at = kT0; at <= kT0 + kTimeout; at += 1000) {
    Sender refused(tracker, at, "a");
    refused.Answer(false);
    HaRequest empty(tracker, at);
    empty.Decide({}, "a");
    empty.Answered(true);
  }
  CHECK(Send(tracker, kT0 + kTimeout, "b") == kTake);
  CHECK(Leader(tracker) == "b");
}

TEST_CASE("a clock that goes back sheds nobody for ever", "[remote_write][ha]") {
  HaTracker tracker({});
  Send(tracker, kT0, "a");
  const int64_t before = kT0 - 365LL * 24 * 3'600'000;
  CHECK(Send(tracker, before, "b") == kShed);
  CHECK(Send(tracker, before + kTimeout - 1, "b") == kShed);
  CHECK(Send(tracker, before + kTimeout, "b") == kTake);
  SECTION("one that leaps ahead is a silence") {
    CHECK(Send(tracker, kT0, "a") == kTake);
    CHECK(Send(tracker, kT0, "b") == kShed);
  }
}

TEST_CASE("pairs have a ceiling, and those that were silent for an hour make room",
          "[remote_write][ha]") {
  HaTracker tracker({.max_clusters = 2});
  CHECK(Send(tracker, kT0, "a", "1") == kTake);
  CHECK(Send(tracker, kT0 + 1000, "a", "2") == kTake);
  CHECK(Send(tracker, kT0 + 2000, "a", "3") == kRefuse);
  CHECK(Send(tracker, kT0 + 2000, "b", "1") == kShed);  // known pairs go on
  CHECK(Send(tracker, kT0 + 1000 + HaTracker::kForgetMs - 1, "a", "3") == kRefuse);
  CHECK(Send(tracker, kT0 + 1000 + HaTracker::kForgetMs, "a", "3") == kTake);
  CHECK(tracker.HaClusters().size() == 2);
  CHECK(Leader(tracker, "2").empty());
  SECTION("a clock that goes back delays that by an hour, not for as long as it went back") {
    const int64_t before = kT0 - 100 * HaTracker::kForgetMs;
    CHECK(Send(tracker, before, "a", "4") == kRefuse);
    CHECK(Send(tracker, before + HaTracker::kForgetMs, "a", "4") == kTake);
  }
  SECTION("a pair with a request under way is kept") {
    const int64_t later = kT0 + 3 * HaTracker::kForgetMs;
    Sender slow(tracker, kT0 + 1000 + HaTracker::kForgetMs, "a", "1");
    CHECK(Send(tracker, later, "a", "4") == kTake);  // in the place of 3
    CHECK(Send(tracker, later, "a", "5") == kRefuse);
    slow.Answer();
    CHECK(Leader(tracker, "1") == "a");
  }
}

TEST_CASE("replicas have a ceiling, and the leader is never forgotten", "[remote_write][ha]") {
  HaTracker tracker({.max_replicas = 2});
  Send(tracker, kT0, "a");
  CHECK(Send(tracker, kT0, "b") == kShed);
  CHECK(Send(tracker, kT0, "c") == kRefuse);
  CHECK(Send(tracker, kT0 + HaTracker::kForgetMs, "c") == kTake);  // in b's place, leader silent
  CHECK(Failovers(tracker) == 1);
  CHECK(Send(tracker, kT0 + HaTracker::kForgetMs, "a") == kShed);
  CHECK(tracker.HaClusters()[0].replicas.size() == 2);
}

TEST_CASE("names that are too long are refused and not kept", "[remote_write][ha]") {
  HaTracker tracker({});
  const std::string longest(HaTracker::kMaxNameBytes, 'n');
  CHECK(Send(tracker, kT0, longest, longest) == kTake);
  CHECK(Send(tracker, kT0, longest + "n", "eu") == kRefuse);
  CHECK(Send(tracker, kT0, "a", longest + "n") == kRefuse);
  CHECK(Send(tracker, kT0, "a", std::string(HaTracker::kMaxNameBytes / 2 + 1, ';')) == kRefuse);
  CHECK(tracker.HaClusters().size() == 1);
}

TEST_CASE("thousands of pairs do not flood the log", "[remote_write][ha]") {
  size_t elections = 0;
  size_t failovers = 0;
  SetLogSink([&](std::string_view line) {
    ++(line.find("failed over") == std::string_view::npos ? elections : failovers);
  });
  HaTracker tracker({});
  for (int i = 0; i < 900; ++i) Send(tracker, kT0, "a", std::to_string(i));
  for (int i = 0; i < 900; ++i) Send(tracker, kT0 + 45'000, "b", std::to_string(i));
  SetLogSink({});
  CHECK(elections >= 1);
  CHECK(elections <= 32);
  CHECK(failovers >= 1);
  CHECK(failovers <= 32);
  const auto pairs = tracker.HaClusters();
  REQUIRE(pairs.size() == 900);
  CHECK(std::all_of(pairs.begin(), pairs.end(),
                    [](const auto& pair) { return pair.failovers == 1; }));
}

TEST_CASE("each failover is logged with who fell silent for how long", "[remote_write][ha]") {
  std::vector<std::string> lines;
  SetLogSink([&](std::string_view line) { lines.emplace_back(line); });
  HaTracker tracker({});
  Send(tracker, kT0, "a");
  Send(tracker, kT0 + 45'000, "b\n");
  Send(tracker, kT0 + 46'000, "a");
  SetLogSink({});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("HA pair has a leader") != std::string::npos);
  CHECK(lines[1].find("HA pair failed over") != std::string::npos);
  CHECK(lines[1].find("from=a") != std::string::npos);
  CHECK(lines[1].find("leader_silent_ms=45000") != std::string::npos);
  CHECK(lines[1].find('\n') == std::string::npos);
}

TEST_CASE("threads that send for both replicas elect one", "[remote_write][ha]") {
  HaTracker tracker({});
  std::vector<std::thread> threads;
  for (const std::string replica : {"a", "b", "a", "b"}) {
    threads.emplace_back([&tracker, replica] {
      for (int i = 0; i < 2000; ++i) {
        Sender sender(tracker, kT0 + i, replica);
        if (i % 7 != 0) sender.Answer();
        if (i % 100 == 0) (void)tracker.HaClusters();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto status = tracker.HaClusters();
  REQUIRE(status.size() == 1);
  CHECK(status[0].failovers == 0);
  uint64_t samples = 0;
  for (const HaReplicaStatus& replica : status[0].replicas) {
    CHECK((replica.samples_taken == 0) != replica.leads);
    samples += replica.samples_taken + replica.samples_shed;
  }
  CHECK(samples == 4 * (2000 - 286));
}
