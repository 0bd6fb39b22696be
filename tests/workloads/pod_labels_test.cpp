// Labels of pods: by which profiles select, and which VPA keeps apart.
#include "workloads/pod_labels.h"

#include <set>

#include "tests/catch.h"
#include "tests/workloads/recorded_namespace.h"

using namespace tidemark;
using namespace tidemark::testing;
using workloads::ReadPodLabels;

namespace {

constexpr int64_t kT0 = RecordedNamespace::kBeginMs;

LabelMap Labels(const std::string& pod, const LabelMap& more) {
  LabelMap labels = {{"__name__", "kube_pod_labels"}, {"namespace", "shop"}, {"pod", pod}};
  for (const auto& [name, value] : more) labels["label_" + name] = value;
  return labels;
}

std::string Bytes(const LabelMap& more) {
  std::string bytes;
  for (const auto& [name, value] : more) AppendLabelBytes({"label_" + name, value}, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("labels of one revision count for the set, not for profiles", "[workloads][labels]") {
  const LabelView labels[] = {{"label_app", "web"},
                              {"label_batch_kubernetes_io_job_name", "a"},
                              {"label_controller_revision_hash", "b"},
                              {"label_pod_template_hash", "c"},
                              {"label_statefulset_kubernetes_io_pod_name", "d"},
                              {"label_tier", "gold"},
                              {"pod", "p"}};
  const auto read = ReadPodLabels(labels);
  CHECK(read.stable == Bytes({{"app", "web"}, {"tier", "gold"}}));
  CHECK(read.set != 0);
  const LabelView other[] = {{"label_app", "web"}, {"label_tier", "gold"}, {"pod", "q"}};
  const auto stable = ReadPodLabels(other);
  CHECK(stable.stable == read.stable);
  CHECK(stable.set != read.set);
  const LabelView moved[] = {{"label_app", "web"}, {"label_tier", "gold"}, {"pod", "r"}};
  CHECK(ReadPodLabels(moved).set == stable.set);
  CHECK(ReadPodLabels({}).set != 0);
  CHECK(ReadPodLabels({}).stable.empty());
  const std::string long_text(4096, 'x');
  const LabelView too_long[] = {{"label_app", "web"}, {"label_note", long_text}};
  CHECK(ReadPodLabels(too_long).too_long);
  CHECK(ReadPodLabels(too_long).stable.empty());
}

TEST_CASE("containers are told of the labels of the newest pod", "[workloads][labels]") {
  RecordedNamespace one;
  auto& told = one.sink.labels;
  one.Put(OwnerOf("db-0", "StatefulSet", "db"), kT0, 1);
  one.Send(MemoryRequest("db-0"), kT0, 1e9);
  CHECK(told.at("statefulset:db/app").empty());
  one.Send(Labels("db-0", {{"app", "db"}, {"pod_template_hash", "1"}}), kT0 + 1, 1);
  CHECK(told.at("statefulset:db/app") == Bytes({{"app", "db"}}));
  REQUIRE(one.sink.label_sets.size() == 1);
  const uint64_t first_set = one.sink.label_sets.begin()->second;

  // A container that comes later knows them, and they survive a restart.
  one.Restart();
  one.Send(OfContainer("kube_pod_container_status_restarts_total", "db-0", "proxy"), kT0 + 2, 0);
  CHECK(told.at("statefulset:db/proxy") == Bytes({{"app", "db"}}));
  for (const auto& [instance, set] : one.sink.label_sets) CHECK(set == first_set);
  CHECK(one.sink.label_sets.size() == 2);

  // A newer pod's labels arrive before anybody knows whose it is.
  one.Put(Labels("db-1", {{"app", "db"}, {"tier", "gold"}}), kT0 + 60'000, 1);
  one.Send(MemoryRequest("db-1"), kT0 + 60'000, 1e9);
  CHECK(told.at(":db-1/app") == Bytes({{"app", "db"}, {"tier", "gold"}}));
  CHECK(told.at("statefulset:db/app") == Bytes({{"app", "db"}}));
  one.Send(OwnerOf("db-1", "StatefulSet", "db"), kT0 + 60'001, 1);
  CHECK(told.at("statefulset:db/app") == Bytes({{"app", "db"}, {"tier", "gold"}}));

  // What an older pod says now does not count.
  one.Send(Labels("db-0", {{"app", "old"}}), kT0 + 60'002, 1);
  CHECK(told.at("statefulset:db/app") == Bytes({{"app", "db"}, {"tier", "gold"}}));
  std::set<uint64_t> sets;
  for (const auto& [instance, set] : one.sink.label_sets) sets.insert(set);
  CHECK(sets.size() == 2);

  // Labels that come back count again once those between have ended.
  one.Send(Labels("db-1", {{"app", "db"}, {"tier", "silver"}}), kT0 + 90'000, 1);
  CHECK(told.at("statefulset:db/app") == Bytes({{"app", "db"}, {"tier", "silver"}}));
  one.Send(Labels("db-1", {{"app", "db"}, {"tier", "gold"}}), kT0 + 90'001, 1);
  CHECK(told.at("statefulset:db/app") == Bytes({{"app", "db"}, {"tier", "silver"}}));
  one.Send(Labels("db-1", {{"app", "db"}, {"tier", "silver"}}), kT0 + 120'000, StaleMarker());
  one.Send(Labels("db-1", {{"app", "db"}, {"tier", "gold"}}), kT0 + 120'000, 1);
  CHECK(told.at("statefulset:db/app") == Bytes({{"app", "db"}, {"tier", "gold"}}));

  // Too long: none.
  one.Send(Labels("db-1", {{"note", std::string(5000, 'x')}}), kT0 + 150'000, 1);
  CHECK(told.at("statefulset:db/app").empty());
  CHECK(one.counters.pod_labels_too_long == 1);

  const int before = one.sink.told;
  one.state->TellContainers();
  CHECK(one.sink.told == before + 2);

  // They outlive their pods.
  one.state->ForgetSeries();
  one.Send(Labels("db-2", {{"app", "last"}}), kT0 + 180'000, 1);
  one.Restart();
  CHECK(told.at("statefulset:db/app").empty());
  one.Send(OwnerOf("db-2", "StatefulSet", "db"), kT0 + 180'001, 1);
  CHECK(told.at("statefulset:db/app") == Bytes({{"app", "last"}}));
}

TEST_CASE("what is kept is collected, and containers that are gone share no minimum",
          "[workloads][labels]") {
  RecordedNamespace one;
  const auto scrape = [&](int minute, bool with_old) {
    const int64_t at = kT0 + minute * 60'000LL;
    one.Put(OwnerOf("db-0", "StatefulSet", "db"), at, 1);
    if (with_old) {
      one.Put(OfContainer("kube_pod_container_status_restarts_total", "db-0", "old"), at, 0);
    }
    one.Send(MemoryRequest("db-0"), at, 1e9);
  };
  const auto containers = [&] {
    return one.state->View(one.state->event_time_ms()).at(0).containers_in_pod;
  };
  scrape(0, true);
  CHECK(containers() == 2);
  for (int minute = 1; minute <= 5; ++minute) scrape(minute, false);
  CHECK(containers() == 2);
  scrape(6, false);
  CHECK(containers() == 1);
  CHECK(one.sink.collected.at("statefulset:db/app") >= kT0 + 5 * 60'000);
  // A pod that is silent as a whole keeps those that were there.
  CHECK(one.state->View(kT0 + 90 * 60'000).at(0).containers_in_pod == 1);
}
