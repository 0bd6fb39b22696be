// Public issues about numbers that were too high, too low or none at all. Threads without a
// repository are those of github.com/kubernetes/autoscaler.
#include <cmath>
#include <limits>

#include "cmd/config.h"
#include "model/advice_text.h"
#include "tests/engine/issue_world.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr double kBytesFirst = 1024 * 1024;

/// VPA's numbers on buckets a tenth as wide, and no minimum but `floor`.
ProfileSetPtr Finer(double floor) {
  return Vpa([floor](Profile& profile) {
    ResourceRule& cpu = profile.rule(Resource::kCpu);
    cpu.buckets.first = 0.001;
    cpu.pod_minimum = 0;
    ResourceRule& memory = profile.rule(Resource::kMemory);
    memory.buckets.first = kBytesFirst;
    memory.pod_minimum = 0;
    memory.floor = floor;
  });
}

/// The largest value of the page.
double Largest(const std::string& page) {
  double largest = 0;
  for (size_t at = page.find("} "); at != std::string::npos; at = page.find("} ", at + 1)) {
    largest = std::max(largest, std::stod(page.substr(at + 2)));
  }
  return largest;
}

}  // namespace

TEST_CASE(
    "kubernetes/autoscaler#2004, #5242, #2125, FairwindsOps/goldilocks#210: a minimum that was hit "
    "shows",
    "[public-issue][numbers]") {
  World vpa(Vpa());
  OwnedBy(vpa, "db-0", "StatefulSet", "db");
  Container(vpa, "db-0").Go(5, 0.001, 5 * kMi);
  const ResourceAdvice memory = vpa.Bytes("db");
  CHECK(memory.recommended_request == 262144000);
  CHECK(memory.Has(AdviceMark::kPodMinimum));
  CHECK(memory.model_request == 1e7);
  CHECK(vpa.Cores("db").Has(AdviceMark::kPodMinimum));
  const std::string labels =
      R"({namespace="shop",workload_type="statefulset",workload="db",container="app",)"
      R"(resource="memory",unit="byte"} )";
  const std::string page = vpa.Page();
  CHECK(page.find("tidemark_recommended_request" + labels + "262144000\n") != std::string::npos);
  CHECK(page.find("tidemark_model_request" + labels + "1e+07\n") != std::string::npos);
  const auto why = vpa.engine().ExplainRequests("shop", "statefulset", "db");
  REQUIRE(why);
  const ContainerExplanation& app = why->front().containers.front();
  const std::string sentence = AdviceText(app.profile, app.resources.back().advice);
  INFO(sentence);
  CHECK(sentence.find("minimum of 250Mi") != std::string::npos);
  // By default it is so small that few will ever meet it, and not there once usage is above.
  World own;
  OwnedBy(own, "db-0", "StatefulSet", "db");
  Container(own, "db-0").Go(5, 0.1, 40 * kMi);
  CHECK(*own.Bytes("db").recommended_request < 1.15 * 1.1 * 40 * kMi);
  CHECK_FALSE(own.Bytes("db").Has(AdviceMark::kPodMinimum));
}

TEST_CASE("kubernetes/autoscaler#6415: finer first buckets answer below 11 millicores and 11 MB",
          "[public-issue][numbers]") {
  const auto tiny = [](World& world) {
    OwnedBy(world, "db-0", "StatefulSet", "db");
    Container(world, "db-0").Go(20, 0.0025, 3 * kMi);
    return std::pair(*world.Cores("db").recommended_request,
                     *world.Bytes("db").recommended_request);
  };
  World coarse(Vpa([](Profile& profile) {
    profile.rule(Resource::kCpu).pod_minimum = 0;
    profile.rule(Resource::kMemory).pod_minimum = 0;
  }));
  CHECK(tiny(coarse) == std::pair(0.011, 11'500'000.0));
  World fine(Finer(0));
  const auto [cores, bytes] = tiny(fine);
  CHECK(cores >= 0.0025);
  CHECK(cores <= 0.004);
  CHECK(bytes >= 3 * kMi);
  CHECK(bytes <= 5 * kMi);
}

TEST_CASE("kubernetes/autoscaler#7280: never less than a runtime needs to start",
          "[public-issue][numbers]") {
  World world(Finer(16 * kMi));
  OwnedBy(world, "pgbouncer-0", "StatefulSet", "pgbouncer");
  Container(world, "pgbouncer-0").Go(20, 0.0025, 2 * kMi);
  const ResourceAdvice memory = world.Bytes("pgbouncer");
  CHECK(memory.recommended_request == 16 * kMi);
  CHECK(memory.lower_bound == 16 * kMi);
  CHECK(memory.Has(AdviceMark::kFloor));
  CHECK(*memory.model_request < 4 * kMi);
  World own;
  OwnedBy(own, "pgbouncer-0", "StatefulSet", "pgbouncer");
  Container(own, "pgbouncer-0").Go(20, 0.0025, 2 * kMi);
  CHECK(own.Bytes("pgbouncer").recommended_request == 16 * kMi);
}

TEST_CASE("kubernetes/autoscaler#5569, #1182: a young workload has no bound of 100T and 100G",
          "[public-issue][numbers]") {
  const auto young = [](World& world) {
    OwnedBy(world, "db-0", "StatefulSet", "db");
    Container(world, "db-0").Go(1, 0.5, 300 * kMi);  // its first minute
    return world.Bytes("db");
  };
  World world(Vpa());
  const ResourceAdvice memory = young(world);
  CHECK(memory.recommended_request);
  CHECK(memory.lower_bound);
  CHECK_FALSE(memory.upper_bound);
  CHECK(memory.Has(AdviceMark::kNoUpperBound));
  CHECK(world.Page().find("tidemark_recommended_request_upper_bound") == std::string::npos);
  CHECK(Largest(world.Page()) < 1e9);
  World strict(StrictVpa());
  CHECK(young(strict).upper_bound == 1e14);
}

TEST_CASE("kubernetes/autoscaler#4515, #7147: a request that no node can hold is cut, and says so",
          "[public-issue][numbers]") {
  World world(Vpa([](Profile& profile) {
    profile.rule(Resource::kCpu).ceiling = 4;
    profile.rule(Resource::kMemory).ceiling = 16 * 1024 * kMi;
  }));
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Container(world, "db-0").Go(20, 30, 100 * 1024 * kMi);
  for (const Resource resource : {Resource::kCpu, Resource::kMemory}) {
    const ResourceAdvice advice = world.Get("db", resource);
    const double ceiling = resource == Resource::kCpu ? 4 : 16 * 1024 * kMi;
    CHECK(advice.recommended_request == ceiling);
    CHECK(advice.upper_bound == ceiling);
    CHECK(advice.Has(AdviceMark::kCeiling));
    CHECK(*advice.model_request > 5 * ceiling);  // what is needed is still told
  }
}

TEST_CASE("kubernetes/autoscaler#4150: memory can be the resident set, without the page cache",
          "[public-issue][numbers]") {
  const auto config = cmd::ParseConfig(
      "sources:\n"
      "  - {metric: container_memory_working_set_bytes, role: none}\n"
      "  - {metric: container_memory_rss, role: usage_gauge, resource: memory, part_labels: "
      "[id]}\n",
      "tidemark.yml");
  REQUIRE(config);
  const auto run = [](World& world) {
    OwnedBy(world, "db-0", "StatefulSet", "db");
    Container app(world, "db-0");
    LabelMap rss = Memory("db-0");
    rss["__name__"] = "container_memory_rss";
    for (int minute = 1; minute < 30; ++minute) {
      app.Go(1, 0.1, minute * 200 * kMi);  // files that are read stay in the working set
      world.Put(rss, app.now_ms(), 100 * kMi);
    }
    return *world.Bytes("db").model_request;
  };
  World by_rss({}, config->sources);
  const double resident = run(by_rss);
  CHECK(resident >= 100 * kMi);
  CHECK(resident <= 1.06 * 1.15 * 100 * kMi);  // in the first day 15 % more than is seen
  bool is_named = false;
  for (const SourceStatus& source : by_rss.Now()->sources) {
    if (source.role != "usage_gauge" || source.series == 0) continue;
    CHECK(source.metric == "container_memory_rss");
    is_named = true;
  }
  CHECK(is_named);
  World by_default;
  CHECK(run(by_default) > 20 * resident);
}

TEST_CASE("kubernetes/autoscaler#6700: the percentile of memory is a setting of each class",
          "[public-issue][numbers]") {
  Profile guaranteed = PresetProfile(Preset::kVpa);
  guaranteed.name = "guaranteed";
  guaranteed.selector = *Selector::Parse(R"({label_qos="guaranteed"})");
  guaranteed.rule(Resource::kMemory).percentile = 1;
  guaranteed.rule(Resource::kMemory).upper_percentile = 1;
  World world(std::make_shared<const ProfileSet>(std::vector<Profile>{guaranteed},
                                                 PresetProfile(Preset::kVpa)));
  for (const std::string workload : {"db", "web"}) {
    for (int i = 0; i < 20; ++i) {
      const std::string pod = workload + "-" + std::to_string(i);
      OwnedBy(world, pod, "StatefulSet", workload);
      if (workload == "db") {
        world.Put(Named("kube_pod_labels",
                        {{"namespace", "shop"}, {"pod", pod}, {"label_qos", "guaranteed"}}),
                  kT0, 1);
      }
      Container(world, pod).Go(5, 0.1, i == 3 ? 900 * kMi : 300 * kMi);
    }
  }
  CHECK(*world.Bytes("db").model_request >= 900 * kMi);
  CHECK(*world.Bytes("web").model_request < 1.06 * 300 * kMi);
}

TEST_CASE("kubernetes/autoscaler#9321: what is no number never reaches a recommendation",
          "[public-issue][numbers]") {
  const auto run = [](World& world, bool with_nonsense) {
    OwnedBy(world, "db-0", "StatefulSet", "db");
    Container app(world, "db-0");
    for (int i = 0; i < 20; ++i) {
      app.Go(1, 0.25, 100 * kMi);
      const int64_t at = app.now_ms() + 1;
      app.SkipTo(app.now_ms() + 20'000);
      if (!with_nonsense) continue;
      const double none[] = {std::nan(""), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), -1e300};
      world.Put(Memory("db-0"), at, none[i % 4]);
      world.Put(Cpu("db-0"), at, none[(i + 1) % 4]);
      world.Put(Request("db-0", "memory"), at, none[i % 4]);
    }
    return world.Page();
  };
  World clean;
  const std::string expected = run(clean, false);
  World dirty;
  const std::string page = run(dirty, true);
  CHECK(dirty.counters().nonfinite_samples == 45);
  CHECK(page.find("tidemark_recommended_request") != std::string::npos);
  CHECK(page == expected);
  CHECK_FALSE(dirty.Bytes("db").current_request);
}
