#include "exporter/training_metrics.h"

#include "tests/catch.h"
#include "tests/exporter/page_parser.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

std::vector<ParsedFamily> Page(const TrainingCounters& counters) {
  std::string page;
  ExpositionWriter writer(ExpositionFormat::kOpenMetrics, page);
  AppendTrainingMetrics(counters, writer);
  writer.Finish();
  return ParsePage(page, ExpositionFormat::kOpenMetrics);
}

}  // namespace

TEST_CASE("what training did and costs comes out under its names", "[exporter][training]") {
  TrainingCounters counters;
  counters.fits = 1;
  counters.fits_refused = 2;
  counters.fits_stopped = 3;
  counters.spent_milliseconds = 4500;
  counters.activated = 5;
  counters.activations_lost = 6;
  counters.queued_now = 7;
  counters.overdue_ms_now = 8250;
  counters.budget_ratio_now = 0.25;
  const auto page = Page(counters);
  const auto value = [&](std::string_view name,
                         const std::vector<std::pair<std::string, std::string>>& labels = {}) {
    return FindFamily(page, name).Value(labels);
  };
  CHECK(value("tidemark_forecast_training_fits", {{"outcome", "trained"}}) == 1);
  CHECK(value("tidemark_forecast_training_fits", {{"outcome", "refused"}}) == 2);
  CHECK(value("tidemark_forecast_training_fits", {{"outcome", "stopped"}}) == 3);
  CHECK(value("tidemark_forecast_training_cpu_seconds") == 4.5);
  CHECK(value("tidemark_forecast_training_activated") == 5);
  CHECK(value("tidemark_forecast_training_activations_lost") == 6);
  CHECK(value("tidemark_forecast_training_queued") == 7);
  CHECK(value("tidemark_forecast_training_backlog_seconds") == 8.25);
  CHECK(value("tidemark_forecast_training_budget_ratio") == 0.25);
}

TEST_CASE("without a budget there is no saying how long the queue takes", "[exporter][training]") {
  TrainingCounters counters;
  CHECK(Page(counters).size() == 7);
  counters.overdue_ms_now = -1;
  for (const ParsedFamily& family : Page(counters)) {
    CHECK(family.name != "tidemark_forecast_training_backlog_seconds");
  }
  CHECK(Page(counters).size() == 6);
}
