#include "exporter/forecast_metrics.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/exporter/fakes.h"
#include "tests/exporter/page_parser.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

std::string Page(const Snapshot& snapshot) {
  ForecastMetrics metrics;
  std::string page;
  ExpositionWriter writer(ExpositionFormat::kText, page);
  metrics.Append(snapshot, writer);
  writer.Finish();
  return page;
}

/// Without heads.
std::string LinesOf(const WorkloadForecast& forecast, double replicas = 3) {
  const auto block = MakeBlock("eu", "shop", {{"deployment", "web"}}, {});
  block->workloads[0].replicas = replicas;
  block->workloads[0].forecast = std::make_shared<const WorkloadForecast>(forecast);
  const std::string page = Page(MakeSnapshot({block}));
  std::string lines;
  for (size_t begin = 0; begin < page.size();) {
    const size_t end = page.find('\n', begin) + 1;
    if (page[begin] != '#') lines += page.substr(begin, end - begin);
    begin = end;
  }
  return lines;
}

constexpr std::string_view kLabels =
    R"({cluster="eu",namespace="shop",workload_type="deployment",workload="web",resource="cpu",unit="core")";

/// Each `{` becomes the labels of the workload.
std::string WithLabels(std::string_view lines) {
  std::string out;
  for (const char c : lines) {
    if (c == '{') {
      out += kLabels;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a forecast becomes exactly these lines", "[exporter][forecast]") {
  CHECK(LinesOf(WholeForecast()) == WithLabels(R"(tidemark_demand{} 3
tidemark_load_ratio{} 2
tidemark_forecast_demand{,horizon_seconds="60"} 3.3
tidemark_forecast_demand{,horizon_seconds="600"} 4.5
tidemark_forecast_demand_lower_bound{,horizon_seconds="60"} 3.1
tidemark_forecast_demand_upper_bound{,horizon_seconds="60"} 3.75
tidemark_forecast_load_ratio{,horizon_seconds="60"} 2.1999999999999997
tidemark_forecast_load_ratio{,horizon_seconds="600"} 3
tidemark_high_water_demand{,risk="0.001"} 6
tidemark_high_water_load_ratio{} 4
tidemark_forecast_error_ratio{,horizon_seconds="60",model="last_value"} 1
tidemark_forecast_error_ratio{,horizon_seconds="60",model="ridge_30"} 0.86
tidemark_forecast_coverage_ratio{,horizon_seconds="60"} 0.91
tidemark_forecast_model_info{,horizon_seconds="60",model="ridge_30"} 1
tidemark_forecast_model_info{,horizon_seconds="600",model="last_value"} 1
)"));
}

TEST_CASE("what is not known has no line", "[exporter][forecast]") {
  WorkloadForecast old = WholeForecast();  // withdrawn by its age
  old.demand.reset();
  old.horizons.clear();
  old.high_water.reset();
  CHECK(LinesOf(old).empty());

  const auto ratios = [](const std::string& lines) {
    return lines.find("load_ratio") != std::string::npos;
  };
  CHECK(ratios(LinesOf(WholeForecast())));
  CHECK_FALSE(ratios(LinesOf(WholeForecast(), 0)));
  WorkloadForecast without = WholeForecast();
  without.request.reset();
  CHECK_FALSE(ratios(LinesOf(without)));
  without.request = 0;
  CHECK_FALSE(ratios(LinesOf(without)));
  CHECK(LinesOf(without).starts_with("tidemark_demand{"));
}

TEST_CASE("workloads whose demand is not kept have no line, others under their resource's name",
          "[exporter][forecast]") {
  const auto profiles = std::make_shared<const ProfileSet>(
      std::vector<Profile>{}, PresetProfile(Preset::kTidemark),
      std::make_shared<const ResourceTable>(
          std::vector<CustomResource>{{"requests", "request_per_second"}}));
  const auto block = MakeBlock("", "shop", {{"deployment", "web"}, {"job", "x"}}, {}, profiles);
  WorkloadForecast forecast;
  forecast.resource = Resource::kFirstCustom;
  forecast.demand = 120;
  block->workloads[0].forecast = std::make_shared<const WorkloadForecast>(forecast);
  CHECK(Page(MakeSnapshot({block})) ==
        "# HELP tidemark_demand What all pods of a workload used together in the last minute of "
        "which that is known.\n"
        "# TYPE tidemark_demand gauge\n"
        "tidemark_demand{namespace=\"shop\",workload_type=\"deployment\",workload=\"web\","
        "resource=\"requests\",unit=\"request_per_second\"} 120\n");
}
