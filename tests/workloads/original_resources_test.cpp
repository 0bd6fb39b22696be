// What the owner had requested, as an annotation of its pods tells it.
#include "workloads/original_resources.h"

#include "tests/catch.h"
#include "tests/workloads/recorded_namespace.h"

using namespace tidemark;
using namespace tidemark::testing;
using workloads::ParseOriginalRequests;

namespace {

constexpr int64_t kT0 = RecordedNamespace::kBeginMs;
constexpr Resource kCpu = Resource::kCpu;
constexpr Resource kMemory = Resource::kMemory;

LabelMap Annotation(const std::string& pod, const std::string& text) {
  return {{"__name__", "kube_pod_annotations"},
          {"namespace", "shop"},
          {"pod", pod},
          {"annotation_tidemark_io_original_resources", text}};
}

workloads::ContainerView ViewOfApp(RecordedNamespace& one) {
  const auto views = one.state->View(one.state->event_time_ms());
  REQUIRE(views.size() == 1);
  REQUIRE(views[0].containers.size() == 1);
  return views[0].containers[0];
}

}  // namespace

TEST_CASE("original requests are read by container and resource", "[workloads][original]") {
  const auto all = ParseOriginalRequests(
      R"({"web":{"requests":{"cpu":"650m","nvidia.com/gpu":"1"}},)"
      R"("app":{"requests":{"cpu":2,"memory":"4Gi"},"limits":{"cpu":"?"}},"idle":{}})");
  REQUIRE(all);
  REQUIRE(all->size() == 3);
  CHECK((*all)[0].container == "app");
  CHECK((*all)[0].request.Get(kCpu) == 2);
  CHECK((*all)[0].request.Get(kMemory) == 4294967296.0);
  CHECK((*all)[2].request.Get(kCpu) == 0.65);
  CHECK_FALSE((*all)[2].request.Get(kMemory));
  CHECK(FindOriginalRequest(*all, "idle") == &(*all)[1]);
  CHECK(FindOriginalRequest(*all, "other") == nullptr);
}

TEST_CASE("an annotation that is none is ignored as a whole", "[workloads][original]") {
  const std::string text =
      GENERATE("", "null", "[]", "{", R"({"app":1})", R"({"app":{"requests":[]}})",
               R"({"app":{"requests":{"cpu":"two"}}})", R"({"app":{"requests":{"cpu":"-1"}}})",
               R"({"app":{"requests":{"cpu":null}}})", R"({"app":{"requests":{"memory":-1}}})",
               R"({"app":{"requests":{"cpu":"1"}}} )"
               "x");
  INFO(text);
  CHECK_FALSE(ParseOriginalRequests(text));
  CHECK_FALSE(ParseOriginalRequests("{" + std::string(17'000, ' ') + "}"));
}

TEST_CASE("the newest pod shows what its owner wrote, as long as that is told",
          "[workloads][original]") {
  RecordedNamespace one;
  one.Put(OwnerOf("db-0", "StatefulSet", "db"), kT0, 1);
  one.Put(Annotation("db-0", R"({"app":{"requests":{"cpu":"2"}}})"), kT0, 1);
  one.Send(MemoryRequest("db-0"), kT0, 1e9);
  CHECK(ViewOfApp(one).original_request.Get(kCpu) == 2);
  CHECK_FALSE(ViewOfApp(one).original_request.Get(kMemory));
  CHECK(ViewOfApp(one).request.Get(kMemory) == 1e9);

  // Written anew: the last word counts, and again the first when the other ends.
  const int64_t later = kT0 + 60'000;
  one.Send(Annotation("db-0", R"({"app":{"requests":{"cpu":"3"}}})"), later, 1);
  CHECK(ViewOfApp(one).original_request.Get(kCpu) == 3);
  one.Restart();
  one.Put(Annotation("db-0", R"({"app":{"requests":{"cpu":"3"}}})"), later + 1, StaleMarker());
  one.Send(MemoryRequest("db-0"), later + 1, 1e9);
  CHECK_FALSE(ViewOfApp(one).original_request.Get(kCpu));
  one.Send(Annotation("db-0", R"({"app":{"requests":{"cpu":"2"}}})"), later + 2, 1);
  CHECK(ViewOfApp(one).original_request.Get(kCpu) == 2);

  // A newer pod, without the annotation: what it requests is what its owner wrote.
  one.Put(OwnerOf("db-1", "StatefulSet", "db"), later + 3, 1);
  one.Send(MemoryRequest("db-1"), later + 3, 2e9);
  CHECK_FALSE(ViewOfApp(one).original_request.Get(kCpu));

  one.Send(Annotation("db-1", "nonsense"), later + 4, 1);
  CHECK_FALSE(ViewOfApp(one).original_request.Get(kCpu));
  CHECK(one.counters.original_requests_bad == 1);
  one.Restart();
  one.Send(Annotation("db-1", "nonsense"), later + 5, 1);
  CHECK(one.counters.original_requests_bad == 1);

  // Silence withdraws it.
  one.Send(OwnerOf("db-1", "StatefulSet", "db"), later + 10 * 60'000, 1);
  CHECK_FALSE(ViewOfApp(one).original_request.Get(kCpu));
}
