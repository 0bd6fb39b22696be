// Names, types and labels of everything on /metrics, held against tests/data/metrics.golden, and
// the whole page against Prometheus' own linter.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/exporter/daemon.h"
#include "tests/exporter/page_parser.h"
#include "tests/exporter/scaling_fakes.h"
#include "tests/exporter/temporary_folder.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

/// With something in every family.
Snapshot FullSnapshot() {
  const ProfileSetPtr profiles = TwoProfiles();
  const auto host = MakeBlock("", "host:9256", {{"process", "nginx"}},
                              {{"", {WholeCpuAdvice()}, &profiles->fallback()}}, profiles);
  const auto shop = MakeBlock(
      "eu-1", "shop", {{"deployment", "web\"\\\n\xC3\xB6"}},
      {{"app", {WholeCpuAdvice(), MemoryAdvice(1e9)}, &profiles->profiles()[0]}}, profiles);
  host->workloads[0].workload_class = WorkloadClass::kIdle;
  shop->workloads[0].workload_class = WorkloadClass::kCompute;
  for (const auto& block : {host, shop}) {
    block->workloads[0].forecast = std::make_shared<const WorkloadForecast>(WholeForecast());
    WorkloadScaling scaling = WholeScaling();
    scaling.utilization_targets = {WholeUtilization()};
    block->workloads[0].scaling = Shared(scaling);
  }
  const auto escaping = MakeBlock("eu", "escaping", {{"deployment", "web"}}, {});
  WorkloadScaling scaling = WholeScaling();
  scaling.escape_dead_band = true;
  escaping->workloads[0].scaling = Shared(scaling);
  Snapshot snapshot = MakeSnapshot({host, shop, escaping});
  snapshot.sources = {{"cpu_usage", "container_cpu_usage_seconds_total", 3, 1700000000000},
                      {"memory_usage", "container_memory_working_set_bytes", 0, std::nullopt}};
  return snapshot;
}

std::string FullPage(const std::string& accept = "text/plain") {
  FakeDaemon daemon(FullSnapshot());
  daemon.vpa_metrics = true;
  daemon.prices = {.currency = "USD", .cpu_core_hour = 0.03, .memory_gib_hour = 0.004};
  daemon.ha.clusters = {{"eu;monitoring/k8s",
                         3,
                         {{"prometheus-k8s-0", false, 1700000000000, 5, 6},
                          {"prometheus-k8s-1", true, 1700000000500, 7, 0}}}};
  daemon.remote_write.highest_timestamp_ms = 1700000000000;
  daemon.remote_write.last_received_ms = 1700000000000;
  daemon.engine.last_tick_ms = 1700000000000;
  daemon.storage.last_checkpoint_ms = 1700000000000;
  daemon.storage.disk_free_bytes_now = 1;
  daemon.backfill_counters.last_error_ms = 1700000000000;
  daemon.backfill_counters.last_finished_ms = 1700000000000;
  daemon.http.web_config_good_now = 1;
  daemon.http.web_config_loaded_ms = 1700000000000;
  daemon.http.certificate_expiry_now_ms = 1800000000000;
  return daemon.Get("/metrics", {}, {{"Accept", accept}}).body;
}

/// `name type label,label,...` for each label set of each family, sorted.
std::set<std::string> DescribePage(const std::string& page) {
  std::set<std::string> lines;
  for (const ParsedFamily& family : ParsePage(page, ExpositionFormat::kText)) {
    for (const ParsedSample& sample : family.samples) {
      std::string line = family.name + " " + family.type + " ";
      for (size_t i = 0; i < sample.labels.size(); ++i)
        line += (i == 0 ? "" : ",") + sample.labels[i].first;
      if (sample.labels.empty()) line += "-";
      lines.insert(line);
    }
  }
  return lines;
}

struct Verdict {
  int exit_code = -1;
  std::string output;
};

Verdict CheckWithPromtool(const std::string& page) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "page").string();
  std::ofstream(file, std::ios::binary) << page;
  const std::string command =
      std::string("\"") + TIDEMARK_PROMTOOL + "\" check metrics < \"" + file + "\" 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Verdict verdict;
  char buffer[4096];
  while (const size_t got = fread(buffer, 1, sizeof buffer, pipe))
    verdict.output.append(buffer, got);
  const int status = pclose(pipe);
  verdict.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return verdict;
}

}  // namespace

TEST_CASE("names, types and labels are those that users hold on to", "[exporter][names]") {
  const std::string path = std::string(TIDEMARK_TEST_DATA) + "/metrics.golden";
  std::ifstream file(path);
  REQUIRE(file.is_open());
  std::set<std::string> golden;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') golden.insert(line);
  }
  const std::set<std::string> present = DescribePage(FullPage());
  std::string differences;
  for (const std::string& line : present) {
    if (!golden.contains(line)) differences += "+ " + line + "\n";
  }
  for (const std::string& line : golden) {
    if (!present.contains(line)) differences += "- " + line + "\n";
  }
  INFO(path << " differs; adding is free, renaming is not:\n" << differences);
  CHECK(differences.empty());
}

TEST_CASE("every name and help keeps the rules that promtool does not check", "[exporter][names]") {
  for (const ParsedFamily& family : ParsePage(FullPage(), ExpositionFormat::kText)) {
    INFO(family.name << ": " << family.help);
    // The last are others' names, given back because dashboards ask for them.
    CHECK((family.name.starts_with("tidemark_") || family.name.starts_with("process_") ||
           family.name.starts_with("kube_customresource_verticalpodautoscaler_")));
    CHECK(family.name.ends_with("_total") == (family.type == "counter"));
    CHECK(family.help.size() > 10);
    CHECK(std::isupper(static_cast<unsigned char>(family.help.front())) != 0);
    CHECK(family.help.back() == '.');
    for (const ParsedSample& sample : family.samples) {
      for (const auto& [label, value] : sample.labels) {
        CHECK(std::set<std::string>{"type", "instance", "job", "le", "quantile"}.count(label) == 0);
      }
    }
  }
}

TEST_CASE("the OpenMetrics page holds the same families and values", "[exporter][names]") {
  const auto text = ParsePage(FullPage(), ExpositionFormat::kText);
  const auto openmetrics =
      ParsePage(FullPage("application/openmetrics-text"), ExpositionFormat::kOpenMetrics);
  REQUIRE(text.size() == openmetrics.size());
  for (size_t i = 0; i < text.size(); ++i) {
    INFO(text[i].name);
    CHECK(text[i].name == openmetrics[i].name + (text[i].type == "counter" ? "_total" : ""));
    CHECK(text[i].help == openmetrics[i].help);
    REQUIRE(text[i].samples.size() == openmetrics[i].samples.size());
    for (size_t j = 0; j < text[i].samples.size(); ++j) {
      CHECK(text[i].samples[j].labels == openmetrics[i].samples[j].labels);
      if (text[i].name.starts_with("process_")) continue;  // moves between two pages
      CHECK(text[i].samples[j].value == openmetrics[i].samples[j].value);
    }
  }
}

TEST_CASE("promtool has nothing to say about a page without recommendations",
          "[exporter][promtool]") {
  const Verdict verdict = CheckWithPromtool(FakeDaemon().Get("/metrics").body);
  CHECK(verdict.output.empty());
  CHECK(verdict.exit_code == 0);
}

TEST_CASE("promtool has nothing to say about a full page but the days", "[exporter][promtool]") {
  // Days are what users count confidence in, and the name is part of the outside surface;
  // promtool's rule for units knows seconds only. It finds nothing else, and without that family
  // nothing at all.
  const Verdict whole = CheckWithPromtool(FullPage());
  CHECK(whole.output ==
        "tidemark_recommendation_confidence_days use base unit \"seconds\" instead of \"days\"\n");

  std::istringstream lines(FullPage());
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("tidemark_recommendation_confidence_days") == std::string::npos)
      rest += line + "\n";
  }
  const Verdict others = CheckWithPromtool(rest);
  CHECK(others.output.empty());
  CHECK(others.exit_code == 0);
}

TEST_CASE("promtool is really asked", "[exporter][promtool]") {
  CHECK(CheckWithPromtool("a 1\n").exit_code != 0);
  CHECK(CheckWithPromtool("a{ 1\n").exit_code != 0);
}
