// The forms of the report: each held against itself or against its own grammar.

#include "cmd/report/writers.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <sstream>

#include "cmd/report/cells.h"
#include "cmd/report/display_text.h"
#include "cmd/report/order.h"
#include "tests/catch.h"
#include "tests/cmd/report_fixture.h"

namespace tidemark::report {
namespace {

namespace json = boost::json;

const Prices kPrices{.currency = "EUR", .cpu_core_hour = 0.03, .memory_gib_hour = 0.004};

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Report WithNames(const std::string& name_space, const std::string& workload,
                 const std::string& container) {
  auto block = std::make_shared<NamespaceBlock>();
  block->name_space = name_space;
  block->workloads = {Workload(name_space, "deployment", workload, 1,
                               {{container, {Advice(Resource::kCpu, 1, 1)}}})};
  Snapshot snapshot;
  snapshot.blocks = {block};
  return MakeReport(snapshot, {}, {}, {});
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// RFC 4180, by its grammar; fails on what is none.
std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1);
  records.back().emplace_back();
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = records.back().back();
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      REQUIRE(field.empty());
      quoted = true;
    } else if (c == ',') {
      records.back().emplace_back();
    } else if (c == '\r') {
      REQUIRE(i + 1 < text.size());
      REQUIRE(text[++i] == '\n');
      records.emplace_back(1);
    } else {
      REQUIRE(c != '\n');
      field += c;
    }
  }
  REQUIRE_FALSE(quoted);
  REQUIRE(records.back() == std::vector<std::string>{""});  // every record ends with CRLF
  records.pop_back();
  return records;
}

}  // namespace

TEST_CASE("The table has one line per container, in columns", "[report][table]") {
  Report report = SmallReport(kPrices);
  SortRows(SortBy::kSeverity, 0, report);
  const std::vector<std::string> lines = LinesOf(WriteTable(report, false));
  REQUIRE(lines.size() > 12);
  // clang-format off
  CHECK(lines[0] == "NAMESPACE  WORKLOAD            CONTAINER  REPLICAS  CPU           MEMORY                        RECLAIM CPU  RECLAIM MEMORY  DAYS  SAVES/MONTH  SEVERITY");
  CHECK(lines[1] == "bank       statefulset/ledger  db                2  500m -> 500m  512Mi -> 768Mi (limit 512Mi)            0          -512Mi   3.0    EUR -1.46  critical");
  CHECK(lines[2] == "shop       deployment/web      app               3  1 -> 200m     1Gi -> 1Gi                            2.4               0   7.0    EUR 52.56  warning");
  CHECK(lines[5] == "shop       deployment/young    app               1  1 -> -        -                                       -               -   0.0            -  unknown");
  // clang-format on
  const std::string text = WriteTable(report, false);
  CHECK(Has(text, "5 containers: 1 critical, 1 warning, 2 ok, 1 unknown\n"));
  CHECK(Has(text,
            "The sums of cpu are of 3 of 5 containers: 1 have no request, 1 no "
            "recommendation yet.\n"));
  CHECK(Has(text, "1 workloads without pods now are left out; --all shows them.\n"));
  CHECK(Has(text, "Savings are per month of 730 hours"));
  CHECK(Has(text,
            "From http://prometheus:9090, 2023-11-14T22:13:20Z to 2023-11-21T22:13:20Z, preset "
            "tidemark.\n"));
}

TEST_CASE("Namespaces and all of them stand below the table", "[report][table]") {
  const std::vector<std::string> lines = LinesOf(WriteTable(SmallReport(kPrices), false));
  // clang-format off
  CHECK(lines[7] == "NAMESPACE  CONTAINERS  CPU          MEMORY        RECLAIM CPU  RECLAIM MEMORY  SAVES/MONTH  CRITICAL  WARNING  OK  UNKNOWN");
  CHECK(lines[8] == "bank                1  1 -> 1       1Gi -> 1.5Gi            0          -512Mi    EUR -1.46         1        0   0        0");
  CHECK(lines[9] == "shop                4  3.3 -> 900m  3Gi -> 3Gi            2.4               0    EUR 52.56         0        1   2        1");
  CHECK(lines[10] == "all                 5  4.3 -> 1.9   4Gi -> 4.5Gi          2.4          -512Mi    EUR 51.10         1        1   2        1");
  // clang-format on
}

TEST_CASE("Without prices there is no column of savings", "[report][table]") {
  CHECK_FALSE(Has(WriteTable(SmallReport(), false), "SAVES"));
  CHECK_FALSE(Has(WriteMarkdown(SmallReport()), "SAVES"));
  CHECK_FALSE(Has(WriteHtml(SmallReport()), "SAVES"));
  CHECK_FALSE(Has(WriteJson(SmallReport()), "savings"));
}

TEST_CASE("Only the severities are coloured, and only when asked", "[report][table]") {
  const Report report = SmallReport();
  const std::string plain = WriteTable(report, false);
  CHECK_FALSE(Has(plain, "\x1b"));
  std::string colored = WriteTable(report, true);
  CHECK(Has(colored, "\x1b[1;31mcritical\x1b[0m\n"));
  CHECK(Has(colored, "\x1b[33mwarning\x1b[0m\n"));
  CHECK(Has(colored, "\x1b[32mok\x1b[0m\n"));
  CHECK(Has(colored, "\x1b[2munknown\x1b[0m\n"));
  for (size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b')) {
    colored.erase(at, colored.find('m', at) - at + 1);
  }
  CHECK(colored == plain);
}

TEST_CASE("Columns stay in line under wide and combining characters", "[report][table]") {
  auto block = std::make_shared<NamespaceBlock>();
  block->name_space = "n";
  for (const char* const name : {"plain", "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E", "caf\x65\xCC\x81",
                                 "Stra\xC3\x9F"
                                 "e"}) {
    block->workloads.push_back(
        Workload("n", "process", name, 1, {{"c", {Advice(Resource::kCpu, 1, 1)}}}));
  }
  Snapshot snapshot;
  snapshot.blocks = {block};
  const std::vector<std::string> lines =
      LinesOf(WriteTable(MakeReport(snapshot, {}, {}, {}), false));
  const auto width_before = [](const std::string& line) {
    const size_t at = line.find("  c  ");
    REQUIRE(at != std::string::npos);
    return DisplayWidth(line.substr(0, line.find_last_not_of(' ', at) + 1)) +
           (at - line.find_last_not_of(' ', at) - 1);
  };
  for (size_t i = 2; i <= 4; ++i) CHECK(width_before(lines[i]) == width_before(lines[1]));
}

TEST_CASE("Names cannot move the cursor, colour the screen or turn the text", "[report][table]") {
  const Report report = WithNames("a\x1b[31mb", "x\ny\r\xE2\x80\xAEz", "c\xC2\x9B\xFF");
  for (const std::string& text : {WriteTable(report, false), WriteMarkdown(report)}) {
    CHECK_FALSE(Has(text, "\x1b"));
    CHECK_FALSE(Has(text, "\r"));
    CHECK_FALSE(Has(text, "\xE2\x80\xAE"));
    CHECK_FALSE(Has(text, "\xC2\x9B"));
    CHECK(Has(text, "x\xEF\xBF\xBDy\xEF\xBF\xBD\xEF\xBF\xBDz"));
  }
  CHECK(Has(WriteTable(report, false), "a\xEF\xBF\xBD[31mb"));
}

TEST_CASE("Widths are those of terminals", "[report][table]") {
  CHECK(DisplayWidth("") == 0);
  CHECK(DisplayWidth("abc") == 3);
  CHECK(DisplayWidth("\xC3\xA4\xC3\x9F") == 2);
  CHECK(DisplayWidth("\xE6\x97\xA5\xE6\x9C\xAC") == 4);
  CHECK(DisplayWidth("\xEF\xBC\xA1") == 2);      // full-width A
  CHECK(DisplayWidth("e\xCC\x81") == 1);         // e and an acute accent
  CHECK(DisplayWidth("\xF0\x9F\x9A\x80") == 2);  // rocket
  CHECK(Printable("ok \xE2\x82\xAC") == "ok \xE2\x82\xAC");
  CHECK(Printable("\xC0\xAF") == "\xEF\xBF\xBD\xEF\xBF\xBD");    // overlong
  CHECK(Printable("\xED\xA0\x80").starts_with("\xEF\xBF\xBD"));  // a surrogate
  CHECK(Printable("\xE6\x97") == "\xEF\xBF\xBD\xEF\xBF\xBD");    // cut off
}

TEST_CASE("An amount that is not known is a dash", "[report][cells]") {
  CHECK(ChangeText(nullptr) == "-");
  Cell cell;
  CHECK(ChangeText(&cell) == "-");
  cell.advice.recommended_request = 0.25;
  CHECK(ChangeText(&cell) == "- -> 250m");
  cell.advice.current_limit = 2;
  CHECK(ChangeText(&cell) == "- -> 250m (limit 2)");
  CHECK(MoneyText(kPrices, -0.001) == "EUR 0.00");
  CHECK(MoneyText(kPrices, 1234.567) == "EUR 1234.57");
}

TEST_CASE("CSV keeps to RFC 4180 and to its columns", "[report][csv]") {
  const auto records = ParseCsv(WriteCsv(SmallReport(kPrices)));
  REQUIRE(records.size() == 6);
  for (const auto& record : records) CHECK(record.size() == records.front().size());
  const auto field = [&](size_t row, const std::string& column) {
    const auto& header = records.front();
    const auto at = std::find(header.begin(), header.end(), column);
    REQUIRE(at != header.end());
    return records[row][static_cast<size_t>(at - header.begin())];
  };
  CHECK(field(1, "namespace") == "bank");
  CHECK(field(1, "workload_type") == "statefulset");
  CHECK(field(1, "severity") == "critical");
  CHECK(field(1, "memory_request_bytes") == "536870912");
  CHECK(field(1, "memory_limit_bytes") == "536870912");
  CHECK(field(1, "memory_recommended_request_bytes") == "805306368");
  CHECK(field(1, "memory_reclaimable_bytes") == "-536870912");
  CHECK(field(1, "memory_kills") == "2");
  CHECK(field(1, "currency") == "EUR");
  CHECK(field(2, "cpu_request_cores") == "1");
  CHECK(field(2, "cpu_recommended_request_cores") == "0.2");
  CHECK(field(2, "replicas") == "3");
  CHECK(field(4, "cpu_recommended_request_cores").empty());
  CHECK(field(4, "savings_per_month").empty());
  CHECK(field(4, "currency").empty());
}

TEST_CASE("CSV quotes what would break it", "[report][csv]") {
  const auto records = ParseCsv(WriteCsv(WithNames("a,b", "say \"hi\"", "two\r\nlines")));
  REQUIRE(records.size() == 2);
  CHECK(records[1][1] == "a,b");
  CHECK(records[1][3] == "say \"hi\"");
  CHECK(records[1][4] == "two\r\nlines");
}

TEST_CASE("Markdown escapes pipes and markup", "[report][markdown]") {
  const std::string text = WriteMarkdown(WithNames("a|b", "c_d*e", "<img src=x>"));
  CHECK(Has(text, "| a\\|b | deployment/c\\_d\\*e | &lt;img src=x> |"));
  for (const std::string& line : LinesOf(text)) {
    if (!line.starts_with("|")) continue;
    size_t pipes = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++pipes;
    }
    CAPTURE(line);
    CHECK((pipes == 11 || pipes == 12));
  }
}

TEST_CASE("HTML is one file that fetches nothing and escapes names", "[report][html]") {
  Report report = WithNames("a&b", "\"'><script>alert(1)</script>", "c");
  report.prometheus = "http://p/?a=<b>";
  report.warnings = {"<b>bold</b>"};
  const std::string text = WriteHtml(report);
  CHECK(text.starts_with("<!DOCTYPE html>"));
  CHECK(text.ends_with("</html>\n"));
  CHECK_FALSE(Has(text, "<script"));
  CHECK_FALSE(Has(text, "src="));
  CHECK_FALSE(Has(text, "href="));
  CHECK_FALSE(Has(text, "url("));
  CHECK_FALSE(Has(text, "@import"));
  CHECK_FALSE(Has(text, "<b>"));
  CHECK(Has(text, "a&amp;b"));
  CHECK(Has(text, "&quot;&#39;&gt;&lt;script&gt;"));
  CHECK(Has(text, "color-scheme: light dark"));
  CHECK(Has(text, "<td class=\"ok\">ok</td>"));
}

TEST_CASE("HTML gives the reason of each resource", "[report][html]") {
  CHECK(Has(WriteHtml(SmallReport()), "cpu 200m: "));
}

TEST_CASE("JSON has every figure in base units, and the sums", "[report][json]") {
  Autoscalers scalers;
  scalers[{"", "shop", "deployment", "web"}] = {"web-hpa", {"cpu utilization"}, true};
  Report report = SmallReport(kPrices, {}, std::move(scalers));
  report.warnings = {"w"};
  report.notes = {"n"};
  const std::string text = WriteJson(report);
  CHECK(text.ends_with("}\n"));
  const json::value value = json::parse(text);
  CHECK(value.at("version") == 1);
  CHECK(value.at("prometheus") == "http://prometheus:9090");
  CHECK(value.at("start") == "2023-11-14T22:13:20.000Z");
  CHECK(value.at("step_seconds") == 60);
  CHECK(value.at("profiles") == "preset tidemark");
  CHECK(value.at("prices").at("hours_per_month") == 730);
  CHECK(value.at("warnings").at(0) == "w");
  CHECK(value.at("notes").at(0) == "n");
  CHECK(value.at("rows_in_all") == 5);
  CHECK(value.at("workloads_without_pods") == 1);
  const json::value& bank = value.at("rows").at(0);
  CHECK(bank.at("severity") == "critical");
  CHECK(bank.at("replicas") == 2);
  CHECK_FALSE(bank.as_object().contains("cluster"));
  CHECK_FALSE(bank.as_object().contains("autoscaler"));
  const json::value& memory = bank.at("resources").at(1);
  CHECK(memory.at("resource") == "memory");
  CHECK(memory.at("unit") == "byte");
  CHECK(memory.at("current_request") == 536870912);
  CHECK(memory.at("recommended_request") == 805306368);
  CHECK(memory.at("request") == "under");
  CHECK(memory.at("kills") == 2);
  CHECK(memory.at("reason").as_string().size() > 10);
  CHECK(value.at("rows").at(1).at("autoscaler").at("by_request") == true);
  CHECK(value.at("rows").at(1).at("resources").at(0).at("savings_per_month").as_double() ==
        Approx(2.4 * 0.03 * 730));
  CHECK(value.at("namespaces").at(1).at("namespace") == "shop");
  CHECK(value.at("total").at("containers") == 5);
  CHECK(value.at("total").at("severities").at("critical") == 1);
  CHECK(value.at("total").at("currency") == "EUR");
  CHECK(value.at("total").at("resources").at(0).at("containers").at("absent") == 1);
}

TEST_CASE("What an autoscaler changes is said below the table", "[report][cells]") {
  Autoscalers scalers;
  scalers[{"", "shop", "deployment", "web"}] = {"web-hpa", {"cpu utilization"}, true};
  const std::string text = WriteTable(SmallReport({}, {}, std::move(scalers)), false);
  CHECK(Has(text, "deployment/web (HPA)"));
  CHECK(Has(text, "(HPA): a HorizontalPodAutoscaler scales it; some go by use as a share"));
  CHECK_FALSE(Has(WriteTable(SmallReport(), false), "HPA"));
}

TEST_CASE("Every form is one text that ends with a line", "[report]") {
  for (const Output output : kAllOutputs) {
    CAPTURE(ToString(output));
    const std::string text = Write(output, SmallReport(kPrices), false);
    CHECK(text.ends_with("\n"));
    CHECK(Has(text, "ledger"));
  }
}

}  // namespace tidemark::report
