// Whatever order requests of a pair's replicas come and end in: only one replica is taken at a
// time, a change needs the leader's silence, and nobody is shed for ever.
#include <algorithm>
#include <deque>
#include <random>

#include "remote_write/ha_request.h"
#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::remote_write;

namespace {

constexpr int64_t kTimeout = 5000;

struct UnderWay {
  std::unique_ptr<HaRequest> request;
  int replica;
  HaDecision decision;
  bool by_lead;  // its replica led when it came, or has been elected since
  int64_t arrival_ms;
};

bool IsClaim(const UnderWay& request) {
  return request.decision == HaDecision::kTake && !request.by_lead;
}

}  // namespace

TEST_CASE("one replica is taken at a time and changes need silence", "[remote_write][ha]") {
  const uint32_t seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  const std::vector<std::string> names = {"a", "b", "c"};
  uint64_t changes = 0;
  for (int round = 0; round < 200; ++round) {
    HaTracker tracker({.failover_timeout_ms = kTimeout});
    std::deque<UnderWay> under_way;
    int64_t now = 1'700'000'000'000;
    int leader = -1;       // whose request was applied last, but for stragglers
    int64_t heard_ms = 0;  // arrival of its newest applied request
    for (int step = 0; step < 400; ++step) {
      now += below(kTimeout / 2);
      const auto replica = static_cast<int>(below(3));
      if (below(2) == 0) {
        auto request = std::make_unique<HaRequest>(tracker, now);
        const HaDecision decision = request->Decide({}, names[static_cast<size_t>(replica)]);
        request->Count(1);
        REQUIRE(decision != HaDecision::kRefuse);
        const auto claim = std::find_if(under_way.begin(), under_way.end(), IsClaim);
        const bool claimed = claim != under_way.end();
        const bool by_lead = replica == leader;
        if (decision == HaDecision::kTake && !by_lead) {
          REQUIRE((!claimed || claim->replica == replica));
          REQUIRE((claimed || leader < 0 || now - heard_ms >= kTimeout));
        } else if (decision == HaDecision::kShed) {
          REQUIRE((!claimed || claim->replica != replica));
          REQUIRE((claimed || (leader >= 0 && !by_lead && now - heard_ms < kTimeout)));
        }
        under_way.push_back({std::move(request), replica, decision, by_lead, now});
      } else if (!under_way.empty()) {
        const auto at = static_cast<size_t>(below(static_cast<int64_t>(under_way.size())));
        UnderWay done = std::move(under_way[at]);
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
        if (below(4) == 0) continue;  // 503
        done.request->Answered(true);
        if (done.decision != HaDecision::kTake) continue;
        const auto status = tracker.HaClusters().at(0);
        const auto found = std::find_if(status.replicas.begin(), status.replicas.end(),
                                        [](const HaReplicaStatus& entry) { return entry.leads; });
        REQUIRE(found != status.replicas.end());
        const bool leads = found->replica == names[static_cast<size_t>(done.replica)];
        if (leads && done.replica != leader) {
          if (leader >= 0) ++changes;
          leader = done.replica;
          for (UnderWay& other : under_way) other.by_lead |= other.replica == leader;
          heard_ms = done.arrival_ms;
        } else if (leads) {
          heard_ms = std::max(heard_ms, done.arrival_ms);
        }
        // What was taken but does not lead is a straggler of an earlier leader.
        if (!leads) REQUIRE(leader >= 0);
      }
    }
    // When all has ended, whoever comes after the timeout is taken.
    under_way.clear();
    HaRequest last(tracker, now + kTimeout);
    REQUIRE(last.Decide({}, "d") == HaDecision::kTake);
  }
  CHECK(changes > 100);
}
