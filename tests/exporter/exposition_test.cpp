#include "exporter/exposition.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "model/sample.h"
#include "tests/catch.h"
#include "tests/exporter/page_parser.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Number(double value) {
  std::string text;
  AppendNumber(value, text);
  return text;
}

std::string OddPage(ExpositionFormat format) {
  std::string page;
  ExpositionWriter writer(format, page);
  writer.BeginFamily({"a_bytes_total", "A \\ \"b\"\nc.", MetricType::kCounter, "bytes"});
  const std::vector<LabelView> labels = {{"z", "q\"b\\n\n"}, {"a", "K\xC3\xB6ln"}};
  writer.Sample(labels, 1e6);
  writer.BeginFamily({"b", "B.", MetricType::kGauge, ""});
  writer.Sample({}, -0.5);
  writer.Finish();
  return page;
}

}  // namespace

TEST_CASE("numbers are the shortest text that reads back", "[exporter][exposition]") {
  CHECK(Number(0) == "0");
  CHECK(Number(-0.0) == "-0");
  CHECK(Number(0.1) == "0.1");
  CHECK(Number(1e6) == "1e+06");
  CHECK(Number(134217728) == "134217728");
  CHECK(Number(1700000000.123) == "1700000000.123");
  CHECK(Number(0.1 + 0.2) == "0.30000000000000004");
  CHECK(Number(std::numeric_limits<double>::lowest()) == "-1.7976931348623157e+308");
  CHECK(Number(std::numeric_limits<double>::denorm_min()) == "5e-324");
  CHECK(Number(kInfinity) == "+Inf");
  CHECK(Number(-kInfinity) == "-Inf");
  CHECK(Number(std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(Number(-std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(Number(StaleMarker()) == "NaN");
}

TEST_CASE("the text format escapes backslash and newline in help, and quotes in labels too",
          "[exporter][exposition]") {
  CHECK(OddPage(ExpositionFormat::kText) ==
        "# HELP a_bytes_total A \\\\ \"b\"\\nc.\n"
        "# TYPE a_bytes_total counter\n"
        "a_bytes_total{z=\"q\\\"b\\\\n\\n\",a=\"K\xC3\xB6ln\"} 1e+06\n"
        "# HELP b B.\n"
        "# TYPE b gauge\n"
        "b -0.5\n");
}

TEST_CASE("OpenMetrics has units, escaped quotes in help, no _total on families and an end",
          "[exporter][exposition]") {
  CHECK(OddPage(ExpositionFormat::kOpenMetrics) ==
        "# HELP a_bytes A \\\\ \\\"b\\\"\\nc.\n"
        "# TYPE a_bytes counter\n"
        "# UNIT a_bytes bytes\n"
        "a_bytes_total{z=\"q\\\"b\\\\n\\n\",a=\"K\xC3\xB6ln\"} 1e+06\n"
        "# HELP b B.\n"
        "# TYPE b gauge\n"
        "b -0.5\n"
        "# EOF\n");
}

TEST_CASE("content types name version and character set", "[exporter][exposition]") {
  CHECK(ContentType(ExpositionFormat::kText) == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(ContentType(ExpositionFormat::kOpenMetrics) ==
        "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

TEST_CASE("label names are letters, digits and underscores", "[exporter][exposition]") {
  CHECK(IsLabelName("a"));
  CHECK(IsLabelName("_A9"));
  CHECK_FALSE(IsLabelName(""));
  CHECK_FALSE(IsLabelName("9a"));
  CHECK_FALSE(IsLabelName("a-b"));
  CHECK_FALSE(IsLabelName("a:b"));
  CHECK_FALSE(IsLabelName("\xC3\xB6"));
}

TEST_CASE("whatever is written is read back the same", "[exporter][exposition]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<std::string> pieces = {"\\", "\"", "\n",           "n",  " ", "{", "}", ",",
                                           "=",  "#",  "\xE2\x82\xAC", "\t", "\r"};
  const auto random_text = [&] {
    std::string text;
    for (size_t left = random() % 8; left > 0; --left) text += pieces[random() % pieces.size()];
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<ParsedFamily> expected;
    for (size_t i = 0; i < 1 + random() % 4; ++i) {
      ParsedFamily& family = expected.emplace_back();
      family.type = random() % 2 == 0 ? "counter" : "gauge";
      family.unit = random() % 2 == 0 ? "seconds" : "";
      family.name = "f" + std::to_string(i) + (family.unit.empty() ? "" : "_seconds");
      family.help = random_text();
      for (size_t j = 0; j < 1 + random() % 5; ++j) {
        ParsedSample& sample = family.samples.emplace_back();
        sample.labels.emplace_back("index", std::to_string(j));
        for (size_t k = 0; k < random() % 4; ++k)
          sample.labels.emplace_back("l" + std::to_string(k), random_text());
        sample.value = std::bit_cast<double>(random());
      }
    }
    for (const ExpositionFormat format :
         {ExpositionFormat::kText, ExpositionFormat::kOpenMetrics}) {
      std::string page;
      ExpositionWriter writer(format, page);
      for (const ParsedFamily& family : expected) {
        const bool counter = family.type == "counter";
        const std::string name = family.name + (counter ? "_total" : "");
        writer.BeginFamily(
            {name, family.help, counter ? MetricType::kCounter : MetricType::kGauge, family.unit});
        for (const ParsedSample& sample : family.samples) {
          std::vector<LabelView> labels;
          for (const auto& [label, value] : sample.labels) labels.push_back({label, value});
          writer.Sample(labels, sample.value);
        }
      }
      writer.Finish();
      const std::vector<ParsedFamily> parsed = ParsePage(page, format);
      REQUIRE(parsed.size() == expected.size());
      for (size_t i = 0; i < parsed.size(); ++i) {
        const bool text = format == ExpositionFormat::kText;
        const bool suffix = text && expected[i].type == "counter";
        REQUIRE(parsed[i].name == expected[i].name + (suffix ? "_total" : ""));
        REQUIRE(parsed[i].help == expected[i].help);
        REQUIRE(parsed[i].type == expected[i].type);
        REQUIRE(parsed[i].unit == (text ? "" : expected[i].unit));
        REQUIRE(parsed[i].samples.size() == expected[i].samples.size());
        for (size_t j = 0; j < parsed[i].samples.size(); ++j) {
          const double value = expected[i].samples[j].value;
          REQUIRE(parsed[i].samples[j].labels == expected[i].samples[j].labels);
          if (std::isnan(value)) {
            REQUIRE(std::isnan(parsed[i].samples[j].value));
          } else {
            REQUIRE(std::bit_cast<uint64_t>(parsed[i].samples[j].value) ==
                    std::bit_cast<uint64_t>(value));
          }
        }
      }
    }
  }
}
