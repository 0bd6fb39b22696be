// Recorded traffic of an HA pair gives the recommendations of one of its servers alone.
#include "remote_write/handler.h"
#include "tests/engine/feed.h"
#include "tests/engine/recorded_bodies.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

struct Replay {
  explicit Replay(const std::vector<RecordedBody>& bodies, remote_write::HaOptions options = {})
      : ha(std::move(options)) {
    for (const RecordedBody& body : bodies) {
      bench.clock.Set(FromUnixMs(body.arrived_ms));
      REQUIRE(handler.Handle(body.Request()).status == 204);
    }
  }

  /// Every amount of every recommendation, bit by bit.
  std::vector<std::string> Advice() {
    std::vector<std::string> lines;
    for (const WorkloadAdvice& workload : bench.Workloads()) {
      for (const ContainerAdvice& container : workload.containers) {
        for (const ResourceAdvice& r : container.resources) {
          std::ostringstream line;
          line << std::hexfloat << workload.id.cluster << '/' << workload.id.name_space << '/'
               << workload.id.workload_type << '/' << workload.id.workload << '/'
               << container.container << '/' << ResourceName(r.resource);
          for (const auto& amount : {r.model_request, r.recommended_request, r.current_request,
                                     r.current_limit, r.reclaimable}) {
            line << ' ' << amount.value_or(-1);
          }
          lines.push_back(line.str());
        }
      }
    }
    return lines;
  }
  uint64_t Ignored(IgnoreReason reason) const {
    return counters.samples_ignored[static_cast<size_t>(reason)];
  }

  Bench bench;
  RemoteWriteCounters counters;
  remote_write::HaTracker ha;
  remote_write::Handler handler{
      bench.engine, bench.clock, {}, counters, {.accepting = {}, .jitter_seed = {}, .ha = &ha}};
};

}  // namespace

TEST_CASE("a recorded pair gives what one of its servers gives alone", "[engine][ha]") {
  const std::vector<RecordedBody> both = RecordedBodies();
  std::vector<RecordedBody> first;
  uint64_t samples_of_second = 0;
  for (const RecordedBody& body : both) {
    if (body.replica == "prom-a") {
      first.push_back(body);
    } else {
      samples_of_second += body.samples;
    }
  }
  REQUIRE(samples_of_second > 5000);

  Replay pair(both);
  Replay alone(first);
  const std::vector<std::string> advice = alone.Advice();
  CHECK(advice.size() > 50);
  CHECK(pair.Advice() == advice);
  CHECK(pair.counters.samples_accepted == alone.counters.samples_accepted);
  CHECK(pair.Ignored(IgnoreReason::kHaCopy) == samples_of_second);
  CHECK(pair.Ignored(IgnoreReason::kSecondScrape) == alone.Ignored(IgnoreReason::kSecondScrape));
  CHECK(pair.bench.counters.series_now == alone.bench.counters.series_now);
  CHECK(pair.bench.counters.counter_resets == alone.bench.counters.counter_resets);
  CHECK(pair.counters.series_without_replica == 0);
  const auto status = pair.ha.HaClusters();
  REQUIRE(status.size() == 1);
  CHECK(status[0].cluster == "tide-lab");
  REQUIRE(status[0].replicas.size() == 2);
  CHECK(status[0].replicas[0].leads);
  CHECK(status[0].replicas[1].samples_shed == samples_of_second);

  SECTION("which is not so when copies are not told apart") {
    const Replay mixed(both, {.replica_labels = {}});
    CHECK(mixed.Ignored(IgnoreReason::kHaCopy) == 0);
    CHECK(mixed.bench.counters.series_now > pair.bench.counters.series_now);
  }
}
