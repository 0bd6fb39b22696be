#include "exporter/content_negotiation.h"

#include <string>
#include <utility>
#include <vector>

#include "exporter/gzip.h"
#include "tests/catch.h"
#include "tests/exporter/gunzip.h"

using namespace tidemark;
using namespace tidemark::exporter;

TEST_CASE("Accept chooses between text and OpenMetrics", "[exporter][negotiation]") {
  const auto text = ExpositionFormat::kText;
  const auto openmetrics = ExpositionFormat::kOpenMetrics;
  const std::vector<std::pair<std::string, ExpositionFormat>> table = {
      // Prometheus 2.42
      {"application/openmetrics-text;version=1.0.0,application/"
       "openmetrics-text;version=0.0.1;q=0.75,"
       "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
       openmetrics},
      // Prometheus 3.x
      {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
       "application/openmetrics-text;version=0.0.1;q=0.5,text/"
       "plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
       "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
       openmetrics},
      // Prometheus 3.x that would like protobuf best, and one that was told to scrape text only
      {"application/"
       "vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"
       "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/"
       "plain;version=0.0.4;q=0.2,*/*;q=0.1",
       openmetrics},
      {"text/plain;version=0.0.4;q=0.6,*/*;q=0.5", text},
      // Before 2.5 and up to 2.33
      {"application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
       text},
      // curl, browsers
      {"*/*", text},
      {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", text},
      {"", text},
      // quality, precision, order
      {"application/openmetrics-text", openmetrics},
      {"APPLICATION/OpenMetrics-Text ; Version=\"1.0.0\" ; Q=0.5", openmetrics},
      {"application/openmetrics-text;q=0.3,text/plain;q=0.4", text},
      {"application/openmetrics-text;q=0.4,text/plain;q=0.3", openmetrics},
      {"application/openmetrics-text, text/plain", openmetrics},
      {"text/plain, application/openmetrics-text", text},
      {"text/*;q=0.9, application/openmetrics-text;q=0.9", openmetrics},
      {"application/*", text},
      {"*/*;q=1, application/openmetrics-text;q=0.9", text},
      {"application/openmetrics-text;version=1.0.0;q=0, application/openmetrics-text", text},
      {"application/openmetrics-text;q=0", text},
      {"application/openmetrics-text;version=2.0.0", text},
      {"text/plain;q=0", text},
      // wrong
      {"application/openmetrics-text;q=2", text},
      {"application/openmetrics-text;q=", text},
      {"application/openmetrics-text;q=0.1234", text},
      {"application/openmetrics-text;q=-1", text},
      {";;;,,,=;q=\"", text},
      {"application/openmetrics-text;version=\"1.0.0", text},
      {"x/y;a=\",\", application/openmetrics-text", openmetrics},
      {"x/y;a=\"\\", text},
  };
  for (const auto& [accept, expected] : table) {
    INFO("Accept: " << accept);
    CHECK(NegotiateFormat(accept) == expected);
  }
}

TEST_CASE("Accept-Encoding chooses between gzip and identity", "[exporter][negotiation]") {
  const std::vector<std::pair<std::string, bool>> table = {
      {"gzip", true},
      {"GZip", true},
      {"x-gzip", true},
      {"deflate, gzip;q=1.0, *;q=0.5", true},
      {"gzip;q=0.5", true},
      {"gzip;q=0.001", true},
      {"*", true},
      {"identity;q=0, gzip", true},
      {"identity;q=0.5, gzip;q=0.5", true},
      {"", false},
      {"identity", false},
      {"gzip;q=0", false},
      {"gzip;q=0.000", false},
      {"gzip;q=0, *", false},
      {"*;q=0", false},
      {"identity, gzip;q=0.5", false},
      {"br, zstd", false},
      {"gzip;q=x", false},
      {"gzip;q=1.5", false},
      {"gzipped", false},
      {",;,", false},
  };
  for (const auto& [accept, expected] : table) {
    INFO("Accept-Encoding: " << accept);
    CHECK(AcceptsGzip(accept) == expected);
  }
}

TEST_CASE("several headers of a name mean one list", "[exporter][negotiation]") {
  HttpRequest request;
  request.headers = {{"accept", "a"}, {"Other", "x"}, {"Accept", "b;q=0.5"}};
  CHECK(JoinHeaders(request, "Accept") == "a, b;q=0.5");
  CHECK(JoinHeaders(request, "Absent").empty());
}

TEST_CASE("gzip gives back what went in", "[exporter][gzip]") {
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 700000; ++i, x = x * 1664525 + 1013904223)
    noise.push_back(static_cast<char>(x >> 24U));
  for (const std::string& data :
       {std::string(), std::string("a"), std::string(3000000, 'x'), noise}) {
    for (const int level : {1, 3, 9}) {
      const std::optional<std::string> packed = Gzip(data, level);
      REQUIRE(packed.has_value());
      REQUIRE(Gunzip(*packed) == data);
      REQUIRE(Gzip(data, level) == packed);
    }
  }
  CHECK_FALSE(Gzip("a", 77).has_value());
}

TEST_CASE("answers are compressed when that is asked for and worth it", "[exporter][negotiation]") {
  HttpRequest request;
  HttpResponse plain;
  plain.body = std::string(1000, 'x');
  plain.headers = {{"Vary", "Accept"}};
  CompressIfAccepted(request, plain);
  CHECK(plain.body == std::string(1000, 'x'));
  REQUIRE(plain.headers.size() == 1);
  CHECK(plain.headers[0].value == "Accept, Accept-Encoding");

  request.headers = {{"Accept-Encoding", "gzip"}};
  HttpResponse packed;
  packed.body = std::string(1000, 'x');
  CompressIfAccepted(request, packed);
  CHECK(Gunzip(packed.body) == std::string(1000, 'x'));
  REQUIRE(packed.headers.size() == 2);
  CHECK(packed.headers[0].name == "Vary");
  CHECK(packed.headers[1].value == "gzip");

  HttpResponse small;
  small.body = "tiny";
  CompressIfAccepted(request, small);
  CHECK(small.body == "tiny");
  CHECK(small.headers.size() == 1);
}
