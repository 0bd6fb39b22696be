#include "exporter/daemon_metrics.h"

#include "tests/catch.h"
#include "tests/exporter/page_parser.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

struct Daemon {
  RemoteWriteCounters remote_write;
  HttpCounters http;
  EngineCounters engine;
  Snapshot snapshot;
  BuildInfo build = {"1.2.3", "abc", "main", "g++ 12"};
  ProcessStats process;

  std::vector<ParsedFamily> Page(ExpositionFormat format = ExpositionFormat::kText) const {
    std::string page;
    ExpositionWriter writer(format, page);
    AppendDaemonMetrics(remote_write, http, engine, snapshot, build, process, writer);
    writer.Finish();
    return ParsePage(page, format);
  }
};

}  // namespace

TEST_CASE("known label values are there with 0 from the start", "[exporter][daemon]") {
  const Daemon daemon;
  const std::vector<ParsedFamily> page = daemon.Page();
  const ParsedFamily& requests = FindFamily(page, "tidemark_remote_write_requests_total");
  CHECK(requests.samples.size() == 14);
  CHECK(requests.Value({{"version", "1.0"}, {"code", "204"}}) == 0);
  CHECK(requests.Value({{"version", "2.0"}, {"code", "503"}}) == 0);
  CHECK(FindFamily(page, "tidemark_remote_write_samples_ignored_total").samples.size() ==
        kIgnoreReasonCount);
  CHECK(FindFamily(page, "tidemark_remote_write_samples_rejected_total").samples.size() ==
        kRejectReasonCount);
  CHECK(FindFamily(page, "tidemark_remote_write_series_rejected_total").samples.size() ==
        kRejectReasonCount);
  CHECK(FindFamily(page, "tidemark_http_requests_total").samples.size() == 5);
}

TEST_CASE("counters come out under their names", "[exporter][daemon]") {
  Daemon daemon;
  daemon.remote_write.requests[1][2] = 5;  // 2.0, 405
  daemon.remote_write.samples_ignored[static_cast<size_t>(IgnoreReason::kLate)] = 6;
  daemon.remote_write.samples_rejected[static_cast<size_t>(RejectReason::kTooOld)] = 7;
  daemon.remote_write.series_rejected[static_cast<size_t>(RejectReason::kSeriesLimit)] = 8;
  daemon.remote_write.highest_timestamp_ms = 1700000000123;
  daemon.remote_write.last_received_ms = 1700000001500;
  daemon.http.requests_by_class[4] = 9;
  daemon.http.connections_total = 10;
  daemon.http.connections_now = 11;
  daemon.engine.series_now = 12;
  daemon.engine.counter_resets = 13;
  daemon.engine.usage_minutes = 14;
  daemon.engine.usage_minutes_dropped = 15;
  daemon.engine.last_tick_ms = 1700000002000;
  daemon.engine.last_tick_duration_us_now = 2500;
  daemon.engine.internal_errors = 16;
  daemon.snapshot.generation = 17;
  const std::vector<ParsedFamily> page = daemon.Page();
  const auto value = [&](std::string_view name,
                         const std::vector<std::pair<std::string, std::string>>& labels = {}) {
    return FindFamily(page, name).Value(labels);
  };
  CHECK(value("tidemark_remote_write_requests_total", {{"version", "2.0"}, {"code", "405"}}) == 5);
  CHECK(value("tidemark_remote_write_samples_ignored_total", {{"reason", "late"}}) == 6);
  CHECK(value("tidemark_remote_write_samples_rejected_total", {{"reason", "too_old"}}) == 7);
  CHECK(value("tidemark_remote_write_series_rejected_total", {{"reason", "series_limit"}}) == 8);
  CHECK(value("tidemark_remote_write_highest_timestamp_seconds") == 1700000000.123);
  CHECK(value("tidemark_remote_write_last_received_timestamp_seconds") == 1700000001.5);
  CHECK(value("tidemark_http_requests_total", {{"code_class", "4xx"}}) == 9);
  CHECK(value("tidemark_http_connections_total") == 10);
  CHECK(value("tidemark_http_open_connections") == 11);
  CHECK(value("tidemark_remote_write_series") == 12);
  CHECK(value("tidemark_engine_usage_resets_total") == 13);
  CHECK(value("tidemark_engine_usage_windows_total") == 14);
  CHECK(value("tidemark_engine_usage_windows_dropped_total") == 15);
  CHECK(value("tidemark_engine_last_tick_timestamp_seconds") == 1700000002);
  CHECK(value("tidemark_engine_last_tick_duration_seconds") == 0.0025);
  CHECK(value("tidemark_internal_errors_total") == 16);
  CHECK(value("tidemark_engine_snapshot_generation") == 17);
  CHECK(value("tidemark_build_info",
              {{"version", "1.2.3"}, {"revision", "abc"}, {"compiler", "g++ 12"}}) == 1);
}

TEST_CASE("times that are never, and what the kernel does not say, have no line",
          "[exporter][daemon]") {
  const std::vector<ParsedFamily> page = Daemon().Page();
  for (const char* name :
       {"tidemark_remote_write_highest_timestamp_seconds",
        "tidemark_remote_write_last_received_timestamp_seconds",
        "tidemark_engine_last_tick_timestamp_seconds",
        "tidemark_engine_source_last_sample_timestamp_seconds", "process_cpu_seconds_total"}) {
    INFO(name);
    CHECK_FALSE(HasFamily(page, name));
  }
}

TEST_CASE("sources of one role and metric are one series", "[exporter][daemon]") {
  Daemon daemon;
  daemon.snapshot.sources = {{"cpu_usage", "a_total", 3, 1700000000000},
                             {"memory_usage", "b_bytes", 0, std::nullopt},
                             {"cpu_usage", "a_total", 4, 1700000060000},
                             {"cpu_usage", "c_total", 5, std::nullopt}};
  const std::vector<ParsedFamily> page = daemon.Page();
  const ParsedFamily& series = FindFamily(page, "tidemark_engine_source_series");
  CHECK(series.samples.size() == 3);
  CHECK(series.Value({{"role", "cpu_usage"}, {"metric", "a_total"}}) == 7);
  CHECK(series.Value({{"role", "memory_usage"}, {"metric", "b_bytes"}}) == 0);
  const ParsedFamily& last =
      FindFamily(page, "tidemark_engine_source_last_sample_timestamp_seconds");
  REQUIRE(last.samples.size() == 1);
  CHECK(last.Value({{"role", "cpu_usage"}, {"metric", "a_total"}}) == 1700000060);
}

TEST_CASE("OpenMetrics is told the units", "[exporter][daemon]") {
  Daemon daemon;
  daemon.process.cpu_seconds = 1.5;
  const std::vector<ParsedFamily> page = daemon.Page(ExpositionFormat::kOpenMetrics);
  CHECK(FindFamily(page, "process_cpu_seconds").unit == "seconds");
  CHECK(FindFamily(page, "tidemark_remote_write_received_bytes").unit == "bytes");
  CHECK(FindFamily(page, "tidemark_remote_write_series").unit.empty());
}
