// What is written of a replay.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/replay_requests/chart.h"
#include "cmd/replay_requests/means.h"
#include "cmd/replay_requests/replay.h"
#include "cmd/replay_requests/report_page.h"
#include "cmd/replay_requests/report_text.h"
#include "cmd/replay_requests/text_table.h"
#include "tests/catch.h"
#include "tests/replay_requests/replay_fixture.h"

namespace tidemark::replay_requests {
namespace {

/// Three traces of four hours: one that rises, one computed, one that is all idle.
ReplayReport Report(std::optional<double> at_breach = std::nullopt) {
  std::vector<double> rising(48);
  for (size_t i = 0; i < rising.size(); ++i) rising[i] = 0.1 + 0.01 * static_cast<double>(i);
  std::vector<double> bytes;
  for (const double use : rising) bytes.push_back(use * 1e9);
  Trace first = TraceOf({Pod("a", rising, bytes)});
  first.name = "<rising> & \"co\"";
  first.kind = "growing";
  first.original = {2, std::nullopt};
  Trace second = TraceOf({Pod("a", rising, bytes)});
  second.name = "computed";
  second.kind = "synthetic";
  second.real = false;
  Trace third = TraceOf({Pod("a", std::vector<double>(48, 0.0))});
  third.name = "idle";
  const auto presets = ParsePresets("max,krr", nullptr, false);
  REQUIRE(presets);
  size_t steps = 0;
  size_t of = 0;
  const auto report =
      Replay({first, second, third}, *presets,
             {.times = {.interval_ms = kHour, .warm_up_ms = kHour}, .at_breach = at_breach},
             [&](size_t done, size_t total) {
               CHECK(done == ++steps);
               of = total;
             });
  REQUIRE(report);
  CHECK(steps == of);
  return *report;
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("Means count each workload once, the bill by size", "[replay]") {
  Outcome small{.samples = 10, .breaches = 1, .episodes = 1, .used = 10, .requested = 30};
  small.pod_days = 1;
  Outcome large{.samples = 10, .breaches = 3, .episodes = 2, .used = 1000, .requested = 1500};
  large.pod_days = 2;
  Outcome idle{.samples = 10, .used = 0, .requested = 5};
  const Outcome nothing;
  const Means means = MeansOf(std::vector<const Outcome*>{&small, &large, &idle, &nothing});
  CHECK(means.workloads == 3);
  CHECK(means.slack_mean == Approx(1.25));
  CHECK(means.slack_median == Approx(1.25));
  CHECK(means.bill == Approx(1535.0 / 1010 - 1));
  CHECK(means.breach == Approx(0.4 / 3));
  CHECK(means.episodes_per_pod_day == Approx(1));
  CHECK(MeansOf({}).workloads == 0);
}

TEST_CASE("Means are over real traces, and by class", "[replay]") {
  const ReplayReport report = Report();
  const auto groups = GroupsOf(report.traces);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == "all");
  CHECK(groups[0].traces == std::vector<size_t>{0, 2});
  CHECK(groups[1].name == "growing");
  CHECK(groups[2].name == "synthetic");
  std::vector<Trace> computed = {report.traces[1]};
  CHECK(GroupsOf(computed)[0].traces == std::vector<size_t>{0});
}

TEST_CASE("JSON is a list with the fields of the contract first", "[replay]") {
  const std::string text = ReportJson(Report());
  CHECK(text.starts_with(
      R"([{"trace":"<rising> & \"co\"","preset":"max","resource":"cpu","slack":)"));
  const auto list = boost::json::parse(text);
  REQUIRE(list.as_array().size() == 12);
  const std::vector<std::string_view> fields = {
      "trace",        "preset",       "resource",          "slack",
      "breach_ratio", "breach_depth", "kills_per_pod_day", "changes"};
  for (const auto& row : list.as_array()) {
    size_t place = 0;
    for (const auto& [key, value] : row.as_object()) {
      if (place < fields.size()) CHECK(std::string_view(key.data(), key.size()) == fields[place]);
      ++place;
    }
    CHECK(row.at("breach_ratio").is_number());
    CHECK(row.at("changes").is_number());
  }
  const auto& cpu = list.as_array()[0];
  // Use rises by 0.01 a step: the maximum of the past is above nothing that follows.
  CHECK(cpu.at("breach_ratio").to_number<double>() == 1);
  CHECK(cpu.at("episodes").to_number<int>() == 1);
  CHECK(cpu.at("kills_per_pod_day").to_number<double>() == 0);
  CHECK(cpu.at("original_slack").is_number());
  CHECK(cpu.at("class").as_string() == "growing");
  const auto& memory = list.as_array()[1];
  CHECK(memory.at("resource").as_string() == "memory");
  CHECK(memory.at("kills_per_pod_day").to_number<double>() == Approx(8));  // one in three hours
  CHECK(memory.at("original_slack").is_null());
  CHECK(list.as_array()[8].at("slack").is_null());  // nothing was used
}

TEST_CASE("JSON has the presets at equal risk last", "[replay]") {
  const auto list = boost::json::parse(ReportJson(Report(0.5)));
  REQUIRE(list.as_array().size() == 14);
  const auto& row = list.as_array()[12];
  CHECK(row.at("trace").as_string() == "*");
  CHECK(row.at("preset").as_string() == "max");
  CHECK(row.at("knob").as_string() == "factor");
  CHECK(row.at("target").to_number<double>() == 0.5);
  CHECK(row.at("slack").is_number());
  CHECK(row.at("kills_per_pod_day").is_null());
  CHECK(list.as_array()[13].at("knob").as_string() == "percentile");
}

TEST_CASE("The table has every trace, the means and equal risk", "[replay]") {
  const std::string text = ReportTable(Report(0.5));
  CHECK(text.starts_with("3 traces, requests every 1h after the first 1h\n\nCPU\nTRACE"));
  CHECK(Has(text, "computed         synthetic  krr"));
  CHECK(Has(text, "Means over workloads: memory"));
  CHECK(Has(text, "at equal risk: CPU, 50 % of samples above the request"));
  CHECK(Has(text, "100.00 %"));
  for (const auto line : {"growing", "synthetic", "all"}) CHECK(Has(text, line));
}

TEST_CASE("Columns are as wide as their characters, not their bytes", "[replay]") {
  TextTable table(1);
  table.Add({"n\xc3\xa4me", "1"});
  table.Add({"x", "22"});
  CHECK(table.Text() == "n\xc3\xa4me   1\nx     22\n");
}

TEST_CASE("The page escapes labels and needs nothing else", "[replay]") {
  const std::string page = ReportPage(Report(0.5));
  CHECK(page.starts_with("<!DOCTYPE html>\n"));
  CHECK(Has(page, "&lt;rising&gt; &amp; &quot;co&quot;"));
  CHECK_FALSE(Has(page, "<rising>"));
  for (const auto outside :
       {"<script", "http://", "https://", "url(", "@import", "<link", "src="}) {
    CAPTURE(outside);
    CHECK_FALSE(Has(page, outside));
  }
  CHECK(Has(page, "prefers-color-scheme: dark"));
  CHECK(Has(page, "At equal risk: CPU, 50 % of samples above the request"));
  size_t charts = 0;
  for (size_t at = page.find("<svg"); at != std::string::npos; at = page.find("<svg", at + 1)) {
    ++charts;
  }
  CHECK(charts == 6);
}

TEST_CASE("A chart shows use and a line for each preset", "[replay]") {
  const ReplayReport report = Report();
  const std::string svg = Chart(report, 0, 0);
  CHECK(Has(svg, "class=\"use\""));
  CHECK(Has(svg, "class=\"request p0\""));
  CHECK(Has(svg, "class=\"request p1\""));
  CHECK(Has(svg, "2023-11-15 00:00"));
  CHECK_FALSE(Has(svg, "nan"));
  CHECK_FALSE(Has(Chart(report, 2, 1), "nan"));  // of nothing at all
}

}  // namespace tidemark::replay_requests
