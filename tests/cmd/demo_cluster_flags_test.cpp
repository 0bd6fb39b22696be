// The flags of `tidetool demo-cluster`; nothing is served here.

#include "cmd/demo_cluster_flags.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

Result<demo_cluster::DemoClusterOptions> Read(const std::vector<std::string>& args) {
  const auto line = ParseCommandLine(DemoClusterSpec(), args);
  if (!line) return tl::unexpected(line.error());
  return ReadDemoClusterFlags(*line);
}

}  // namespace

TEST_CASE("The demo cluster's flags reach its options", "[cmd][tidetool]") {
  const auto options =
      Read({"--web.listen-address=0.0.0.0:1234", "--seed=18446744073709551615", "--speed=2.5"});
  REQUIRE(options);
  CHECK(options->listen_address == "0.0.0.0:1234");
  CHECK(options->seed == 18446744073709551615u);
  CHECK(options->speed == 2.5);
  const auto past = Read({"--history.file=/x", "--history.length=1h30m", "--history.step=2m"});
  REQUIRE(past);
  CHECK(past->history_file == "/x");
  CHECK(past->history_length == std::chrono::minutes(90));
  CHECK(past->history_step == std::chrono::minutes(2));
  const demo_cluster::DemoClusterOptions defaults;
  CHECK(Read({})->history_file.empty());
  CHECK(Read({})->history_length == std::chrono::days(8));
  CHECK(Read({})->history_step == std::chrono::minutes(5));
  CHECK(Read({})->listen_address == defaults.listen_address);
  CHECK(Read({})->seed == defaults.seed);
  CHECK(Read({})->speed == defaults.speed);
}

TEST_CASE("A wrong flag of the demo cluster is named with what is allowed", "[cmd][tidetool]") {
  const std::pair<std::vector<std::string>, std::string> bad[] = {
      {{"--seed=-1"}, "--seed: -1 is not a seed, allowed: 0 <= x <= 18446744073709551615"},
      {{"--seed="}, "--seed: \"\" is not a seed, allowed: 0 <= x <= 18446744073709551615"},
      {{"--speed=0"}, "--speed: 0 is not a speed, allowed: 0 < x <= 1000"},
      {{"--speed=1001"}, "--speed: 1001 is not a speed, allowed: 0 < x <= 1000"},
      {{"--speed=nan"}, "--speed: nan is not a speed, allowed: 0 < x <= 1000"},
      {{"--speed=inf"}, "--speed: inf is not a speed, allowed: 0 < x <= 1000"},
      {{"--speed=fast"}, "--speed: fast is not a speed, allowed: 0 < x <= 1000"},
      {{"--history.file="}, "--history.file: \"\" is no file, allowed: a path"},
      {{"--history.length=59s"}, "--history.length: 59s is out of range, allowed: 1m to 30d"},
      {{"--history.length=31d"}, "--history.length: 31d is out of range, allowed: 1m to 30d"},
      {{"--history.step=0"}, "--history.step: 0 is out of range, allowed: 1m to 1h"},
      {{"--history.step=90s"},
       "--history.step: 90s is no whole number of minutes, allowed: 1m to 1h"},
      {{"--history.length=4m"},
       "--history.length: 4m is too short, allowed: at least --history.step, which is 5m"},
      {{"--speeed=1"},
       "--speeed: there is no such flag (did you mean --speed?), allowed: --web.listen-address, "
       "--seed, --speed, "
       "--history.file, --history.length, --history.step, --version, --help"},
      {{"here"}, "the argument here is unexpected, allowed: flags only"}};
  for (const auto& [args, message] : bad) {
    CAPTURE(args);
    const auto options = Read(args);
    REQUIRE_FALSE(options);
    CHECK(options.error().message == message);
  }
  CHECK_FALSE(Read({"--web.listen-address=nowhere"}));
}

}  // namespace tidemark::cmd
