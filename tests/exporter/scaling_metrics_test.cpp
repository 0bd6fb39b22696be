#include "exporter/scaling_metrics.h"

#include "exporter/forecast_metrics.h"
#include "tests/catch.h"
#include "tests/exporter/page_parser.h"
#include "tests/exporter/scaling_fakes.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

template <class Metrics>
std::string PageOf(const Snapshot& snapshot) {
  Metrics metrics;
  std::string page;
  ExpositionWriter writer(ExpositionFormat::kText, page);
  metrics.Append(snapshot, writer);
  writer.Finish();
  return page;
}

/// Without heads.
std::string LinesOf(const std::string& page) {
  std::string lines;
  for (size_t begin = 0; begin < page.size();) {
    const size_t end = page.find('\n', begin) + 1;
    if (page[begin] != '#') lines += page.substr(begin, end - begin);
    begin = end;
  }
  return lines;
}

Snapshot OneWorkload(const WorkloadScaling& scaling) {
  const auto block = MakeBlock("eu", "shop", {{"deployment", "web"}}, {});
  block->workloads[0].scaling = Shared(scaling);
  return MakeSnapshot({block});
}

std::string Lines(const WorkloadScaling& scaling) {
  return LinesOf(PageOf<ScalingMetrics>(OneWorkload(scaling)));
}

/// Each `{` becomes the labels of the workload.
std::string WithLabels(std::string_view lines) {
  std::string out;
  for (const char c : lines) {
    out += c;
    if (c == '{')
      out += R"(cluster="eu",namespace="shop",workload_type="deployment",workload="web")";
  }
  return out;
}

}  // namespace

TEST_CASE("a decision becomes exactly these lines", "[exporter][scaling]") {
  CHECK(Lines(WholeScaling()) == WithLabels(R"(tidemark_target_replicas{} 12
tidemark_current_replicas{} 10
tidemark_min_replicas{} 2
tidemark_max_replicas{} 20
tidemark_target_utilization_ratio{} 0.5
tidemark_scaling_mode{,mode="predictive"} 1
tidemark_scaling_policy_info{,policy="tidemark"} 1
)"));
  WorkloadScaling reactive = WholeScaling();
  reactive.policy = UsualSettings(ScalingPolicy::kDebiPaper);
  reactive.decision->mode = ScalingMode::kReactive;
  reactive.decision->target = 0;  // suspended
  reactive.decision->target_utilization_ratio = 0;
  CHECK(Lines(reactive) == WithLabels(R"(tidemark_target_replicas{} 0
tidemark_current_replicas{} 10
tidemark_min_replicas{} 2
tidemark_max_replicas{} 20
tidemark_scaling_mode{,mode="reactive"} 1
tidemark_scaling_policy_info{,policy="debi-paper"} 1
)"));
}

TEST_CASE("a target that leaves the dead band is served, and said", "[exporter][scaling]") {
  WorkloadScaling scaling = WholeScaling();
  scaling.current_replicas = 30;
  scaling.bounds = {.min = 2, .max = 100};
  scaling.decision->target = 31;
  CHECK(Lines(scaling).find("} 31\n") != std::string::npos);
  scaling.escape_dead_band = true;
  CHECK(Lines(scaling) == WithLabels(R"(tidemark_target_replicas{} 34
tidemark_current_replicas{} 30
tidemark_min_replicas{} 2
tidemark_max_replicas{} 100
tidemark_target_utilization_ratio{} 0.5
tidemark_scaling_mode{,mode="predictive"} 1
tidemark_scaling_policy_info{,policy="tidemark",escape_dead_band="true"} 1
)"));
}

TEST_CASE("scale points of an autoscaler are shown, whether anything is decided or not",
          "[exporter][scaling]") {
  WorkloadScaling scaling = WithoutDecision("disabled");
  scaling.utilization_targets = {WholeUtilization()};
  CHECK(Lines(scaling) ==
        WithLabels(
            R"(tidemark_autoscaler_scale_point{,resource="cpu",unit="core",requests="original"} 1.5
tidemark_autoscaler_scale_point{,resource="cpu",unit="core",requests="current"} 1
tidemark_autoscaler_scale_point{,resource="cpu",unit="core",requests="recommended"} 0.75
tidemark_autoscaler_target_utilization_ratio{,resource="cpu"} 0.5
tidemark_autoscaler_preserving_target_ratio{,resource="cpu"} 1
)"));
  AutoscalerUtilization& target = scaling.utilization_targets[0];
  target.scale_point_before.reset();
  target.scale_point_now.reset();
  target.scale_point_after.reset();
  target.preserving_target_ratio.reset();
  CHECK(Lines(scaling) ==
        WithLabels("tidemark_autoscaler_target_utilization_ratio{,resource=\"cpu\"} 0.5\n"));
}

TEST_CASE("without a decision there is no target, and nothing is 0 that is not known",
          "[exporter][scaling]") {
  WorkloadScaling stale = WholeScaling();
  stale.decision.reset();
  stale.why = "stale";
  CHECK(Lines(stale) == WithLabels(R"(tidemark_current_replicas{} 10
tidemark_min_replicas{} 2
tidemark_max_replicas{} 20
tidemark_scaling_policy_info{,policy="tidemark"} 1
)"));
  CHECK(Lines(WithoutDecision("no_bounds")) ==
        WithLabels("tidemark_scaling_policy_info{,policy=\"tidemark\"} 1\n"));
  CHECK(Lines(WithoutDecision("disabled")).empty());
}

TEST_CASE("workloads that are not scaled have no line", "[exporter][scaling]") {
  const auto block = MakeBlock("", "shop", {{"daemonset", "agent"}, {"deployment", "web"}}, {});
  block->workloads[1].scaling = Shared(WholeScaling());
  const std::string lines = LinesOf(PageOf<ScalingMetrics>(MakeSnapshot({block})));
  CHECK(lines.starts_with(
      "tidemark_target_replicas{namespace=\"shop\",workload_type=\"deployment\",workload=\"web\"} "
      "12\n"));
  CHECK(lines.find("agent") == std::string::npos);
  CHECK(PageOf<ScalingMetrics>(MakeSnapshot({MakeBlock("", "a", {{"job", "x"}}, {})})).empty());
}

TEST_CASE("ratios of forecasts are of what the decision counts by", "[exporter][scaling]") {
  const auto ratio = [](const WorkloadScaling* scaling) {
    const auto block = MakeBlock("", "shop", {{"deployment", "web"}}, {});
    block->workloads[0].forecast = std::make_shared<const WorkloadForecast>(WholeForecast());
    if (scaling != nullptr) block->workloads[0].scaling = Shared(*scaling);
    const auto page =
        ParsePage(PageOf<ForecastMetrics>(MakeSnapshot({block})), ExpositionFormat::kText);
    return FindFamily(page, "tidemark_load_ratio").samples.at(0).value;
  };
  CHECK(ratio(nullptr) == 2);  // 3 / (3 × 0.5)
  const WorkloadScaling scaling = WholeScaling();
  CHECK(ratio(&scaling) == 0.4);  // 3 / (10 × 0.75)
  WorkloadScaling unknown = WithoutDecision("no_request");
  CHECK(ratio(&unknown) == 2);
  unknown.current_replicas = 6;
  CHECK(ratio(&unknown) == 1);
}
