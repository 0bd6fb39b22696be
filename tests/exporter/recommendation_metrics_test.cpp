#include "exporter/recommendation_metrics.h"

#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/exporter/fakes.h"
#include "tests/exporter/page_parser.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

std::string Page(RecommendationMetrics& metrics, const Snapshot& snapshot,
                 ExpositionFormat format = ExpositionFormat::kText) {
  std::string page;
  ExpositionWriter writer(format, page);
  metrics.Append(snapshot, writer);
  writer.Finish();
  return page;
}

Snapshot ShopSnapshot() {
  return MakeSnapshot({
      MakeBlock("", "shop", {{"deployment", "web"}},
                {{"app", {FullCpuAdvice(), MemoryAdvice(134217728)}}}),
      MakeBlock("eu-1", "host.example:9256", {{"process", "my\"app\\x\nK\xC3\xB6ln"}},
                {{"", {MemoryAdvice(5e8)}}}),
  });
}

}  // namespace

TEST_CASE("a Snapshot becomes exactly this page", "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  const std::string labels =
      R"({namespace="shop",workload_type="deployment",workload="web",container="app",resource="cpu",unit="core"} )";
  const std::string memory_labels =
      R"({namespace="shop",workload_type="deployment",workload="web",container="app",resource="memory",unit="byte"} )";
  const std::string process_labels =
      R"({cluster="eu-1",namespace="host.example:9256",workload_type="process",workload="my\"app\\x\n)"
      "K\xC3\xB6ln"
      R"(",resource="memory",unit="byte"} )";
  CHECK(
      Page(metrics, ShopSnapshot()) ==
      "# HELP tidemark_recommended_request The request to set for one pod's container: model "
      "value with margin and expansion, within minimum, floor and ceiling.\n"
      "# TYPE tidemark_recommended_request gauge\n"
      "tidemark_recommended_request" +
          labels +
          "0.2415\n"
          "tidemark_recommended_request" +
          memory_labels +
          "134217728\n"
          "tidemark_recommended_request" +
          process_labels +
          "5e+08\n"
          "# HELP tidemark_model_request What the usage histogram (or kills for memory) says that "
          "one pod's container needs, before margin, expansion and bounds.\n"
          "# TYPE tidemark_model_request gauge\n"
          "tidemark_model_request" +
          labels +
          "0.21\n"
          "# HELP tidemark_current_request The request that the workload's newest pod has now.\n"
          "# TYPE tidemark_current_request gauge\n"
          "tidemark_current_request" +
          labels +
          "1\n"
          "# HELP tidemark_current_limit The limit that the workload's newest pod has now.\n"
          "# TYPE tidemark_current_limit gauge\n"
          "tidemark_current_limit" +
          labels +
          "2\n"
          "# HELP tidemark_reclaimable What all replicas together request above the "
          "recommendation; negative where they "
          "need more.\n"
          "# TYPE tidemark_reclaimable gauge\n"
          "tidemark_reclaimable" +
          labels +
          "2.2755\n"
          "# HELP tidemark_recommendation_confidence_days How many days of samples are behind "
          "the recommendation.\n"
          "# TYPE tidemark_recommendation_confidence_days gauge\n"
          "tidemark_recommendation_confidence_days" +
          labels + "6.5\n");
}

TEST_CASE("odd names are read back as they are, in both formats", "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  for (const ExpositionFormat format : {ExpositionFormat::kText, ExpositionFormat::kOpenMetrics}) {
    const std::vector<ParsedFamily> page = ParsePage(Page(metrics, ShopSnapshot(), format), format);
    CHECK(page.size() == 6);
    CHECK(FindFamily(page, "tidemark_recommended_request")
              .Value({{"cluster", "eu-1"},
                      {"namespace", "host.example:9256"},
                      {"workload_type", "process"},
                      {"workload", "my\"app\\x\nK\xC3\xB6ln"},
                      {"resource", "memory"},
                      {"unit", "byte"}}) == 5e8);
  }
}

TEST_CASE("bounds and the original stand beside the request, the profile once per container",
          "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  const ProfileSetPtr profiles = TwoProfiles();
  const std::string page =
      Page(metrics, MakeSnapshot({MakeBlock(
                        "", "a", {{"job", "x"}},
                        {{"app", {WholeCpuAdvice(), MemoryAdvice(1)}, &profiles->profiles()[0]},
                         {"side", {}, &profiles->fallback()}},
                        profiles)}));
  const std::string app = R"({namespace="a",workload_type="job",workload="x",container="app",)";
  const std::string side = R"({namespace="a",workload_type="job",workload="x",container="side",)";
  const std::string cpu = app + R"(resource="cpu",unit="core"} )";
  const auto has = [&](const std::string& line) {
    INFO(line);
    CHECK(page.find("\n" + line + "\n") != std::string::npos);
  };
  has("tidemark_recommended_request_lower_bound" + cpu + "0.12");
  has("tidemark_recommended_request_upper_bound" + cpu + "0.5");
  has("tidemark_original_request" + cpu + "1.5");
  has("tidemark_high_water_mark" + app + R"(resource="cpu",unit="core",risk="0.01"} 0.3)");
  has("tidemark_high_water_mark" + app + R"(resource="cpu",unit="core",risk="0.0001"} 0.42)");
  has("tidemark_recommendation_profile_info" + app +
      R"(profile="shared",preset="oversell",effect="applied"} 1)");
  has("tidemark_recommendation_profile_info" + side +
      R"(profile="default",preset="tidemark",effect="shown"} 1)");
  const ParsedFamily info =
      FindFamily(ParsePage(page, ExpositionFormat::kText), "tidemark_recommendation_profile_info");
  CHECK(info.samples.size() == 2);
  CHECK(FindFamily(ParsePage(page, ExpositionFormat::kText), "tidemark_original_request")
            .samples.size() == 1);
}

TEST_CASE("resources of the configuration's own stand under their names, classes once a workload",
          "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  const auto profiles = std::make_shared<const ProfileSet>(
      std::vector<Profile>{}, PresetProfile(Preset::kTidemark),
      std::make_shared<const ResourceTable>(
          std::vector<CustomResource>{{"network_receive", "byte_per_second"}}));
  ResourceAdvice network;
  network.resource = Resource::kFirstCustom;
  network.recommended_request = 1.5e6;
  ResourceAdvice disk;
  disk.resource = Resource::kEphemeralStorage;
  disk.current_request = 1e9;
  const auto block = MakeBlock(
      "", "a", {{"job", "x"}, {"job", "y"}},
      {{"", {network}, &profiles->fallback()}, {"app", {disk}, &profiles->fallback()}}, profiles);
  block->workloads[0].workload_class = WorkloadClass::kMemory;
  const std::string page = Page(metrics, MakeSnapshot({block}));
  const auto has = [&](const std::string& line) {
    INFO(line);
    CHECK(page.find("\n" + line + "\n") != std::string::npos);
  };
  const std::string x = R"({namespace="a",workload_type="job",workload="x",)";
  has("tidemark_recommended_request" + x +
      R"(resource="network_receive",unit="byte_per_second"} 1500000)");
  has("tidemark_current_request" + x +
      R"(container="app",resource="ephemeral_storage",unit="byte"} 1e+09)");
  has("tidemark_workload_profile_info" + x + R"(class="memory"} 1)");
  CHECK(FindFamily(ParsePage(page, ExpositionFormat::kText), "tidemark_workload_profile_info")
            .samples.size() == 1);
}

TEST_CASE("an empty Snapshot gives no families", "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  CHECK(Page(metrics, Snapshot{}).empty());
  CHECK(Page(metrics, Snapshot{}, ExpositionFormat::kOpenMetrics) == "# EOF\n");
  CHECK(
      Page(metrics, MakeSnapshot({MakeBlock("", "empty", {{"job", "x"}}, {{"app", {}}})})).empty());
}

TEST_CASE("confidence stands only beside a model value", "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  ResourceAdvice advice = FullCpuAdvice();
  advice.model_request.reset();
  const std::string page =
      Page(metrics, MakeSnapshot({MakeBlock("", "a", {{"job", "x"}}, {{"app", {advice}}})}));
  CHECK(page.find("confidence_days") == std::string::npos);
  CHECK(page.find("tidemark_recommended_request{") != std::string::npos);
}

TEST_CASE("equal Snapshots give equal bytes, cached or not", "[exporter][recommendations]") {
  RecommendationMetrics first;
  RecommendationMetrics second;
  const std::string fresh = Page(first, ShopSnapshot());
  CHECK(Page(second, ShopSnapshot()) == fresh);
  CHECK(Page(first, ShopSnapshot()) == fresh);
}

TEST_CASE("only blocks that changed are formatted anew", "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  Snapshot snapshot = ShopSnapshot();
  const std::string before = Page(metrics, snapshot);
  CHECK(metrics.RenderedLastForTest() == 2);
  CHECK(Page(metrics, snapshot) == before);
  CHECK(metrics.RenderedLastForTest() == 0);
  CHECK(Page(metrics, snapshot, ExpositionFormat::kOpenMetrics) != before);
  CHECK(metrics.RenderedLastForTest() == 0);

  snapshot.blocks[1] = MakeBlock("eu-1", "b", {{"job", "x"}}, {{"app", {MemoryAdvice(7)}}});
  const std::string after = Page(metrics, snapshot);
  CHECK(metrics.RenderedLastForTest() == 1);
  CHECK(after.find("my\\\"app") == std::string::npos);
  CHECK(after.find("workload=\"x\",container=\"app\",resource=\"memory\",unit=\"byte\"} 7\n") !=
        std::string::npos);
}

TEST_CASE("a block in the place of a dead one is not taken for it", "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  alignas(NamespaceBlock) static unsigned char place[sizeof(NamespaceBlock)];
  for (const double value : {1.0, 2.0, 3.0}) {
    // The same address every time, with a new owner.
    auto* block = new (place)
        NamespaceBlock(*MakeBlock("", "a", {{"job", "x"}}, {{"app", {MemoryAdvice(value)}}}));
    const std::shared_ptr<const NamespaceBlock> owner(
        block, [](const NamespaceBlock* dead) { dead->~NamespaceBlock(); });
    const std::string page = Page(metrics, MakeSnapshot({owner}));
    CHECK(page.find("\"} " + std::to_string(static_cast<int>(value)) + "\n") != std::string::npos);
    CHECK(metrics.RenderedLastForTest() == 1);
  }
}

TEST_CASE("the cache does not keep blocks alive", "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  auto block = std::make_shared<const NamespaceBlock>(
      *MakeBlock("", "a", {{"job", "x"}}, {{"app", {MemoryAdvice(1)}}}));
  const std::weak_ptr<const NamespaceBlock> watch = block;
  Page(metrics, MakeSnapshot({std::move(block)}));
  CHECK(watch.expired());
}

TEST_CASE("pages can be asked for from several threads", "[exporter][recommendations]") {
  RecommendationMetrics metrics;
  const Snapshot one = ShopSnapshot();
  Snapshot other = one;
  other.blocks.pop_back();
  const std::string expected_one = Page(metrics, one);
  const std::string expected_other = Page(metrics, other);
  std::vector<std::string> wrong(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        const bool which = (i + static_cast<size_t>(round)) % 2 == 0;
        const std::string page = Page(metrics, which ? one : other);
        if (page != (which ? expected_one : expected_other)) wrong[i] = page;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& page : wrong) CHECK(page.empty());
}
