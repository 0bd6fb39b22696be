#include "exporter/vpa_metrics.h"

#include "tests/catch.h"
#include "tests/exporter/fakes.h"
#include "tests/exporter/page_parser.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

const std::string kPrefix =
    "kube_customresource_verticalpodautoscaler_status_recommendation_containerrecommendations_";

std::string Page(VpaMetrics& metrics, const Snapshot& snapshot) {
  std::string page;
  ExpositionWriter writer(ExpositionFormat::kText, page);
  metrics.Append(snapshot, writer);
  writer.Finish();
  return page;
}

ResourceAdvice Marked(ResourceAdvice advice, std::initializer_list<AdviceMark> marks) {
  for (const AdviceMark mark : marks) advice.Mark(mark);
  return advice;
}

}  // namespace

TEST_CASE("recommendations have the names and labels of kube-state-metrics", "[exporter][vpa]") {
  VpaMetrics metrics;
  const std::string page =
      Page(metrics, MakeSnapshot({MakeBlock("eu", "shop", {{"deployment", "web"}},
                                            {{"app", {WholeCpuAdvice(), MemoryAdvice(1e9)}}})}));
  const std::string labels =
      R"({cluster="eu",namespace="shop",verticalpodautoscaler="web",target_api_version="apps/v1",)"
      R"(target_kind="Deployment",target_name="web",container="app",)";
  const std::string cpu = labels + R"(resource="cpu",unit="core"} )";
  const std::string memory = labels + R"(resource="memory",unit="byte"} )";
  const auto check = [&](const std::string& line) {
    INFO(line << "\n\n" << page);
    CHECK(page.find("\n" + kPrefix + line + "\n") != std::string::npos);
  };
  check("target" + cpu + "0.2415");
  check("lowerbound" + cpu + "0.12");
  check("upperbound" + cpu + "0.5");
  check("uncappedtarget" + cpu + "0.2415");
  check("target" + memory + "1e+09");
  check("uncappedtarget" + memory + "1e+09");
  const auto families = ParsePage(page, ExpositionFormat::kText);
  CHECK(families.size() == 4);
  CHECK(FindFamily(families, kPrefix + "lowerbound").samples.size() == 1);
}

TEST_CASE("only cpu and memory of containers are shown", "[exporter][vpa]") {
  VpaMetrics metrics;
  ResourceAdvice gpu = FullCpuAdvice();
  gpu.resource = Resource::kGpuUtilization;
  CHECK(Page(metrics, MakeSnapshot({MakeBlock("", "a", {{"job", "x"}}, {{"app", {gpu}}}),
                                    MakeBlock("", "host", {{"process", "nginx"}},
                                              {{"", {WholeCpuAdvice()}}})}))
            .empty());
}

TEST_CASE("kinds are spelled as Kubernetes does", "[exporter][vpa]") {
  const auto check = [](const char* type, const char* kind, const char* version) {
    INFO(type);
    CHECK(TargetKindOf(type).kind == kind);
    CHECK(TargetKindOf(type).api_version == version);
  };
  check("deployment", "Deployment", "apps/v1");
  check("statefulset", "StatefulSet", "apps/v1");
  check("daemonset", "DaemonSet", "apps/v1");
  check("cronjob", "CronJob", "batch/v1");
  check("job", "Job", "batch/v1");
  check("replicationcontroller", "ReplicationController", "v1");
  check("cloneset", "CloneSet", "apps.kruise.io/v1alpha1");
  check("barepod", "Pod", "v1");
  check("gameserver", "gameserver", "");
  VpaMetrics metrics;
  const std::string page =
      Page(metrics,
           MakeSnapshot({MakeBlock("", "a", {{"gameserver", "x"}}, {{"app", {MemoryAdvice(1)}}})}));
  CHECK(page.find(R"({namespace="a",verticalpodautoscaler="x",target_kind="gameserver",)") !=
        std::string::npos);
}

TEST_CASE("the uncapped target is the request before floor and ceiling", "[exporter][vpa]") {
  Profile profile = PresetProfile(Preset::kVpa);
  ResourceRule& cpu = profile.rule(Resource::kCpu);
  ResourceAdvice advice = FullCpuAdvice();  // the model says 0.21, with margin 241m and a half
  const auto uncapped = [&](std::initializer_list<AdviceMark> marks, size_t containers = 1) {
    return UncappedRequest(&profile, containers, Marked(advice, marks));
  };
  CHECK(uncapped({}) == 0.2415);
  advice.recommended_request = 0.1;
  CHECK(uncapped({}) == 0.1);
  CHECK(uncapped({AdviceMark::kCeiling}) == 0.241);
  CHECK(uncapped({AdviceMark::kFloor}) == 0.241);
  cpu.expansion_factor = 2;
  CHECK(uncapped({AdviceMark::kCeiling}) == 0.482);
  cpu.pod_minimum = 3;
  CHECK(uncapped({AdviceMark::kCeiling, AdviceMark::kPodMinimum}) == 3);
  CHECK(uncapped({AdviceMark::kCeiling, AdviceMark::kPodMinimum}, 2) == 1.5);
  CHECK(uncapped({AdviceMark::kCeiling, AdviceMark::kPodMinimum}, 7) == 0.482);
  cpu.rounding = 0.05;
  CHECK(uncapped({AdviceMark::kCeiling}) == 0.5);
  CHECK(UncappedRequest(nullptr, 1, Marked(advice, {AdviceMark::kCeiling})) == 0.1);
  cpu.static_ratio = 0.8;
  CHECK(uncapped({AdviceMark::kCeiling, AdviceMark::kStatic}) == 0.1);
  advice.original_request = 0.5;
  CHECK(uncapped({AdviceMark::kCeiling, AdviceMark::kStatic}) == 0.4);
  // Nothing used yet: the floor is all there is.
  advice.model_request.reset();
  CHECK(uncapped({AdviceMark::kFloor}) == 0);
}

TEST_CASE("the containers of a pod share its minimum, of a strict profile all that were known",
          "[exporter][vpa]") {
  Profile strict = PresetProfile(Preset::kVpa);
  strict.name = "strict";
  strict.strict = true;
  const auto profiles =
      std::make_shared<ProfileSet>(std::vector<Profile>{strict}, PresetProfile(Preset::kVpa));
  const auto uncapped = [&](const Profile* profile) {
    ResourceAdvice cpu = Marked(FullCpuAdvice(), {AdviceMark::kPodMinimum, AdviceMark::kFloor});
    cpu.model_request = 0.001;
    const auto block = MakeBlock("", "a", {{"job", "x"}}, {{"app", {cpu}, profile}}, profiles);
    block->workloads[0].containers_in_pod = 2;
    block->workloads[0].containers_known = 3;
    VpaMetrics metrics;
    const auto page = ParsePage(Page(metrics, MakeSnapshot({block})), ExpositionFormat::kText);
    return FindFamily(page, kPrefix + "uncappedtarget").samples.at(0).value;
  };
  CHECK(uncapped(&profiles->fallback()) == 0.012);
  CHECK(uncapped(&profiles->profiles()[0]) == 0.008);
}

TEST_CASE("only blocks that changed are formatted anew for VPA's names", "[exporter][vpa]") {
  VpaMetrics metrics;
  Snapshot snapshot =
      MakeSnapshot({MakeBlock("", "a", {{"job", "x"}}, {{"app", {MemoryAdvice(1)}}}),
                    MakeBlock("", "b", {{"job", "x"}}, {{"app", {MemoryAdvice(2)}}})});
  const std::string before = Page(metrics, snapshot);
  CHECK(metrics.RenderedLastForTest() == 2);
  CHECK(Page(metrics, snapshot) == before);
  CHECK(metrics.RenderedLastForTest() == 0);
  metrics.Clear();
  CHECK(Page(metrics, snapshot) == before);
  CHECK(metrics.RenderedLastForTest() == 2);
}
