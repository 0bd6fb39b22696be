// The flags of `tidetool loadgen`; nothing is sent here.

#include "cmd/loadgen_flags.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

using loadgen::ParseTarget;

Result<loadgen::LoadOptions> Read(const std::vector<std::string>& args) {
  const auto line = ParseCommandLine(LoadgenSpec(), args);
  if (!line) return tl::unexpected(line.error());
  return ReadLoadgenFlags(*line);
}

}  // namespace

TEST_CASE("The load generator's flags reach its options", "[cmd][tidetool]") {
  const auto options =
      Read({"--url=http://[::1]:9000/w?x=1", "--protocol=2.0", "--series=5000", "--connections=9",
            "--rate=1e5", "--rounds=3", "--duration=1m30s", "--interval=30s", "--churn=0.25",
            "--samples-per-request=500", "--start=1796004600000", "--seed=7", "--header=X-A:  b c",
            "--basic-auth=Aladdin:open sesame", "--on-503=drop", "--max-retry-wait=1s",
            "--retry-for=2m", "--output=json"});
  REQUIRE(options);
  CHECK(options->target.host == "::1");
  CHECK(options->target.port == "9000");
  CHECK(options->target.path == "/w?x=1");
  CHECK(options->protocol == loadgen::Protocol::kV2);
  CHECK(options->series == 5000);
  CHECK(options->connections == 9);
  CHECK(options->rate == 1e5);
  CHECK(options->rounds == 3);
  CHECK(options->duration == std::chrono::seconds(90));
  CHECK(options->interval == std::chrono::seconds(30));
  CHECK(options->churn_per_hour == 0.25);
  CHECK(options->samples_per_request == 500);
  CHECK(options->start_ms == 1'796'004'600'000);
  CHECK(options->seed == 7);
  // The example of RFC 7617.
  CHECK(options->headers ==
        std::vector<std::pair<std::string, std::string>>{
            {"Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}, {"X-A", "b c"}});
  CHECK_FALSE(options->retry_on_503);
  CHECK(options->max_retry_wait == std::chrono::seconds(1));
  CHECK(options->retry_for == std::chrono::minutes(2));
  CHECK(options->json);
}

TEST_CASE("Without flags a run is bounded", "[cmd][tidetool]") {
  const auto options = Read({});
  REQUIRE(options);
  CHECK(options->rounds == 20);
  CHECK(options->target.port == "9849");
  CHECK(Read({"--duration=1m"})->rounds == 0);
}

TEST_CASE("A wrong flag of the load generator is named, with what is allowed", "[cmd][tidetool]") {
  for (const std::string wrong : {"--url=https://x/",   "--url=ftp://x/",
                                  "--url=http://:80/",  "--url=http://a:0/",
                                  "--url=http://a:b/",  "--url=http://u:p@a/",
                                  "--url=http://a b/",  "--protocol=3",
                                  "--containers=0",     "--containers=x",
                                  "--series=1",         "--connections=0",
                                  "--connections=1001", "--rate=-1",
                                  "--rate=nan",         "--rate=inf",
                                  "--rounds=0",         "--duration=0",
                                  "--duration=x",       "--interval=1ms",
                                  "--churn=-0.1",       "--samples-per-request=0",
                                  "--start=1",          "--seed=-1",
                                  "--header=x",         "--header=: y",
                                  "--header=a b: c",    "--header=a: b\nc: d",
                                  "--basic-auth=x",     "--bearer-token=",
                                  "--on-503=maybe",     "--max-retry-wait=-1s",
                                  "--retry-for=soon",   "--output=xml"}) {
    CAPTURE(wrong);
    const auto options = Read({wrong});
    REQUIRE_FALSE(options);
    CHECK(options.error().message.find(wrong.substr(0, wrong.find('='))) != std::string::npos);
    CHECK(options.error().message.find("allowed") != std::string::npos);
    CHECK(options.error().message.find('\n') == std::string::npos);
  }
  CHECK_FALSE(Read({"--containers=5", "--series=500"}));
  CHECK_FALSE(Read({"--basic-auth=a:b", "--bearer-token=c"}));
}

TEST_CASE("An address without port or path has the usual ones", "[cmd][tidetool]") {
  const auto target = ParseTarget("http://example.com");
  REQUIRE(target);
  CHECK(target->host == "example.com");
  CHECK(target->port == "80");
  CHECK(target->path == "/");
}

}  // namespace tidemark::cmd
