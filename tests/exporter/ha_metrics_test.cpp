#include "exporter/ha_metrics.h"

#include "tests/catch.h"
#include "tests/exporter/daemon.h"
#include "tests/exporter/page_parser.h"

using namespace tidemark;
using namespace tidemark::exporter;

TEST_CASE("the page tells who leads, what is shed and who was heard of", "[exporter][ha]") {
  FakeDaemon daemon;
  daemon.ha.clusters = {
      {"", 0, {{"lonely", false, 1700000000000, 0, 0}}},
      {"a\"b\\;c\n", 2, {{"0", true, 1700000000250, 10, 3}, {"1", false, 1700000001000, 7, 20}}}};
  for (const ExpositionFormat format : {ExpositionFormat::kText, ExpositionFormat::kOpenMetrics}) {
    const std::string accept =
        format == ExpositionFormat::kText ? "text/plain" : "application/openmetrics-text";
    const auto page = ParsePage(daemon.Get("/metrics", {}, {{"Accept", accept}}).body, format);
    const std::string total = format == ExpositionFormat::kText ? "_total" : "";
    const std::string pair = "a\"b\\;c\n";

    const auto& leaders = FindFamily(page, "tidemark_remote_write_ha_leader_info");
    CHECK(leaders.samples.size() == 1);
    CHECK(leaders.Value({{"ha_cluster", pair}, {"replica", "0"}}) == 1);
    const auto& failovers = FindFamily(page, "tidemark_remote_write_ha_failovers" + total);
    CHECK(failovers.samples.size() == 2);
    CHECK(failovers.Value({{"ha_cluster", ""}}) == 0);
    CHECK(failovers.Value({{"ha_cluster", pair}}) == 2);
    const auto& samples = FindFamily(page, "tidemark_remote_write_ha_samples" + total);
    CHECK(samples.samples.size() == 6);
    CHECK(samples.Value({{"ha_cluster", pair}, {"replica", "0"}, {"decision", "taken"}}) == 10);
    CHECK(samples.Value({{"ha_cluster", pair}, {"replica", "0"}, {"decision", "shed"}}) == 3);
    CHECK(samples.Value({{"ha_cluster", pair}, {"replica", "1"}, {"decision", "shed"}}) == 20);
    const auto& received =
        FindFamily(page, "tidemark_remote_write_ha_last_received_timestamp_seconds");
    CHECK(received.samples.size() == 3);
    CHECK(received.Value({{"ha_cluster", pair}, {"replica", "0"}}) == 1700000000.25);
  }
}

TEST_CASE("without pairs, or without anybody who follows them, there are no lines",
          "[exporter][ha]") {
  const FakeDaemon fake;
  std::string body;
  SECTION("no pair has come") {
    for (const HttpRoute& route : fake.routes) {
      if (route.path == "/metrics") body = route.handler(HttpRequest{}).body;
    }
  }
  SECTION("no pair is followed") {
    for (const HttpRoute& route : Routes({fake.snapshots,
                                          fake.state,
                                          fake.remote_write,
                                          fake.http,
                                          fake.engine,
                                          fake.clock,
                                          {},
                                          FromUnixMs(0),
                                          "",
                                          [] { return std::string(); },
                                          [] { return true; }})) {
      if (route.path == "/metrics") body = route.handler(HttpRequest{}).body;
    }
  }
  CHECK(HasFamily(ParsePage(body, ExpositionFormat::kText), "tidemark_build_info"));
  CHECK(body.find("tidemark_remote_write_ha_") == std::string::npos);
}
