// The flags of `tidetool replay requests`.

#include "cmd/replay_flags.h"

#include <string>
#include <vector>

#include "cmd/command_line.h"
#include "tests/catch.h"
#include "tests/cmd/temporary_file.h"

namespace tidemark::cmd {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kDay = 24LL * 60 * 60 * 1000;

Result<ReplayOrder> Read(std::vector<std::string> args) {
  const auto line = ParseCommandLine(ReplaySpec(), args);
  INFO((line ? "" : line.error().message));
  REQUIRE(line);
  return ReadReplayFlags(*line, kNow);
}

ReplayOrder Good(std::vector<std::string> args) {
  const auto order = Read(std::move(args));
  INFO((order ? "" : order.error().message));
  REQUIRE(order);
  return *order;
}

std::string Wrong(std::vector<std::string> args) {
  const auto order = Read(std::move(args));
  REQUIRE_FALSE(order);
  return order.error().message;
}

}  // namespace

TEST_CASE("A replay of traces by default", "[replay][flags]") {
  const ReplayOrder order = Good({"requests", "--traces=dir"});
  CHECK(order.traces == "dir");
  CHECK_FALSE(order.prometheus.has_value());
  CHECK(order.presets.size() == 5);
  CHECK(order.options.times.interval_ms == 60 * 60 * 1000);
  CHECK(order.options.times.warm_up_ms == 2 * kDay);
  CHECK_FALSE(order.options.at_breach.has_value());
  CHECK(order.output == ReplayOutput::kTable);
  CHECK(order.output_file.empty());
}

TEST_CASE("All of a replay can be said", "[replay][flags]") {
  const ReplayOrder order =
      Good({"requests", "--traces", "dir", "--preset=max,krr", "--interval=1d", "--warm-up=3d",
            "--at-breach=1%", "--at-kills=0.1", "--output=html", "--output.file=page.html"});
  REQUIRE(order.presets.size() == 2);
  CHECK(order.presets[0].name == "max");
  CHECK(order.options.times.interval_ms == kDay);
  CHECK(order.options.times.warm_up_ms == 3 * kDay);
  CHECK(order.options.at_breach.value() == Approx(0.01));
  CHECK(order.options.at_kills.value() == Approx(0.1));
  CHECK(order.output == ReplayOutput::kHtml);
  CHECK(order.output_file == "page.html");
  CHECK(Good({"requests", "--traces=dir", "--at-breach=0.02"}).options.at_breach.value() ==
        Approx(0.02));
}

TEST_CASE("A Prometheus is asked for ten days, unless told otherwise", "[replay][flags]") {
  const auto source = Good({"requests", "--prometheus=http://p:9090"}).prometheus;
  REQUIRE(source);
  CHECK(source->end_ms == kNow);
  CHECK(source->start_ms == kNow - 10 * kDay);
  CHECK(source->step_ms == 300'000);
  const TemporaryFile secret("correct horse\n");
  const auto other =
      Good({"requests", "--prometheus=http://p:9090", "--start=30d", "--end=1700000000",
            "--step=1m", "--namespace=shop", "--workload=deployment/web", "--username=u",
            "--password-file=" + secret.path(), "--header=X-Scope-OrgID: a"})
          .prometheus;
  REQUIRE(other);
  CHECK(other->start_ms == kNow - 30 * kDay);
  CHECK(other->end_ms == 1'700'000'000'000);
  CHECK(other->step_ms == 60'000);
  CHECK(other->name_space == "shop");
  CHECK(other->workload == "deployment/web");
  CHECK(other->http.basic_auth.username == "u");
  REQUIRE(other->http.http_headers.size() == 1);
  CHECK(other->http.http_headers[0].second == "a");
  const auto dated = Good({"requests", "--prometheus=http://p:9090", "--start=2023-11-01T00:00:00Z",
                           "--end=2023-11-02T00:00:00Z"})
                         .prometheus;
  REQUIRE(dated);
  CHECK(dated->end_ms - dated->start_ms == kDay);
}

TEST_CASE("Wrong flags of a replay are named with what is allowed", "[replay][flags]") {
  CHECK(Wrong({"scaling", "--traces=d"}) == "scaling cannot be replayed, allowed: requests");
  CHECK(Wrong({"requests"}) == "nothing to replay, allowed: --traces=PATH or --prometheus=URL");
  CHECK(Wrong({"requests", "--traces=d", "--prometheus=http://p"}) ==
        "--prometheus: it does not go with --traces, allowed: one of them");
  CHECK(Wrong({"requests", "--traces=d", "--step=5m"}) ==
        "--step: it does not go with --traces, allowed: with --prometheus");
  CHECK(Wrong({"requests", "--traces=d", "--username=u"}) ==
        "--username: it does not go with --traces, allowed: with --prometheus");
  CHECK(Wrong({"requests", "--traces=d", "--preset=vpaa"})
            .starts_with("--preset: vpaa is no preset"));
  CHECK(Wrong({"requests", "--traces=d", "--preset=config"}) ==
        "--preset: config needs profiles, allowed: with --config.file=FILE");
  CHECK(Wrong({"requests", "--traces=d", "--interval=0"}) ==
        "--interval: 0 is not in range, allowed: 1m to 366d");
  CHECK(Wrong({"requests", "--traces=d", "--warm-up=x"}).starts_with("--warm-up: "));
  CHECK(Wrong({"requests", "--traces=d", "--at-breach=1"}) ==
        "--at-breach: 1 is no good target, allowed: above 0 to 50%, such as 1% or 0.01");
  CHECK(Wrong({"requests", "--traces=d", "--at-breach="}).find("is no good target") !=
        std::string::npos);
  CHECK(Wrong({"requests", "--traces=d", "--at-kills=1%"}) ==
        "--at-kills: 1% is no good target, allowed: above 0 to 100, such as 0.1");
  CHECK(Wrong({"requests", "--traces=d", "--output=xml"}) ==
        "--output: xml is no form of output, allowed: table, json, html");
  CHECK(Wrong({"requests", "--prometheus=p:9090"}).starts_with("--prometheus: "));
  CHECK(Wrong({"requests", "--prometheus=http://p", "--query-cpu=up"}) ==
        "--query-cpu: it is alone, allowed: --query-cpu and --query-memory together");
  CHECK(Wrong({"requests", "--prometheus=http://p", "--query-cpu=up", "--query-memory=up",
               "--namespace=x"}) ==
        "--namespace: it does not go with --query-cpu, allowed: one of them");
  CHECK(Wrong({"requests", "--prometheus=http://p", "--step=30s"}) ==
        "--step: 30s is not in range, allowed: 1m to 1h");
  CHECK(Wrong({"requests", "--prometheus=http://p", "--start=1h", "--end=2h"}) ==
        "--start: the time from --start to --end is not in range, allowed: two steps to 366d");
  CHECK(Wrong({"requests", "--prometheus=http://p", "--start=yesterday"})
            .starts_with("--start: yesterday is no time"));
  CHECK(Wrong({"requests", "--prometheus=http://p", "--header=nothing"}).starts_with("--header: "));
  CHECK(Wrong({"requests", "--traces=d", "--config.file=/nowhere/x.yml"}).find("/nowhere/x.yml") !=
        std::string::npos);
}

}  // namespace tidemark::cmd
