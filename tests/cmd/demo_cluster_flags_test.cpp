// The flags of `tidetool demo-cluster`; nothing is served here.

#include "cmd/demo_cluster_flags.h"

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
  const demo_cluster::DemoClusterOptions defaults;
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
      {{"--speeed=1"},
       "--speeed: there is no such flag (did you mean --speed?), allowed: --web.listen-address, "
       "--seed, --speed, "
       "--version, --help"},
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
