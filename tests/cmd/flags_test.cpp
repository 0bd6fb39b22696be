// The daemon's flags, the command lines of all programs, and their help.

#include "cmd/flags.h"

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/build_info.h"
#include "cmd/listen_address.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

using Args = std::vector<std::string>;

Flags Good(const Args& args) {
  auto flags = ParseFlags(args);
  INFO((flags ? "" : flags.error().message));
  REQUIRE(flags);
  return *flags;
}

std::string ErrorOf(const Args& args) {
  const auto flags = ParseFlags(args);
  REQUIRE_FALSE(flags);
  CHECK(flags.error().code == ErrorCode::kInvalidArgument);
  return flags.error().message;
}

std::string ReadTestData(const std::string& name) {
  std::ifstream file(std::string(TIDEMARK_TEST_DATA) + "/" + name);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("Without flags the daemon has its defaults", "[cmd][flags]") {
  const Flags flags = Good({});
  CHECK(flags.config_file.empty());
  CHECK(flags.web_listen_address == "0.0.0.0:9849");
  CHECK(flags.storage_path == "./data");
  CHECK(flags.storage_sync == storage::SyncMode::kAlways);
  CHECK(flags.web_config_file.empty());
  CHECK(flags.eval_interval == std::chrono::seconds(15));
  CHECK(flags.log_level == LogLevel::kInfo);
  CHECK(flags.log_format == LogFormat::kLogfmt);
  CHECK_FALSE(flags.clock_start);
  CHECK_FALSE(flags.answer);
}

TEST_CASE("Every flag reaches its setting", "[cmd][flags]") {
  const Flags flags =
      Good({"--config.file=/etc/tidemark.yml", "--web.listen-address=127.0.0.1:0",
            "--storage.path=/data", "--storage.sync=interval", "--web.config.file=web.yml",
            "--eval.interval=1m30s", "--log.level=debug", "--log.format=json",
            "--clock.start=1700000000123"});
  CHECK(flags.config_file == "/etc/tidemark.yml");
  CHECK(flags.web_listen_address == "127.0.0.1:0");
  CHECK(flags.storage_path == "/data");
  CHECK(flags.storage_sync == storage::SyncMode::kInterval);
  CHECK(flags.web_config_file == "web.yml");
  CHECK(flags.eval_interval == std::chrono::seconds(90));
  CHECK(flags.log_level == LogLevel::kDebug);
  CHECK(flags.log_format == LogFormat::kJson);
  REQUIRE(flags.clock_start);
  CHECK(ToUnixMs(*flags.clock_start) == 1'700'000'000'123);
}

TEST_CASE("A value can stand behind a space and may be empty where that means something",
          "[cmd][flags]") {
  const Flags flags = Good({"--config.file=", "--log.level", "warn", "--storage.path", "a=b c"});
  CHECK(flags.config_file.empty());
  CHECK(flags.log_level == LogLevel::kWarn);
  CHECK(flags.storage_path == "a=b c");
  CHECK(Good({"--config.file=", "--log.level=error"}).log_level == LogLevel::kError);
}

TEST_CASE("A wrong flag is named with what is allowed", "[cmd][flags]") {
  const std::string all =
      "--config.file, --web.listen-address, --web.config.file, --kubernetes.listen-address, "
      "--kubernetes.tls-cert-file, --kubernetes.tls-private-key-file, "
      "--kubernetes.requestheader-client-ca-file, --kubernetes.requestheader-allowed-names, "
      "--kubernetes.client-ca-file, --kubernetes.cluster, --storage.path, --storage.sync, "
      "--eval.interval, "
      "--log.level, "
      "--log.format, --clock.start, "
      "--version, --help";
  const std::string levels = "allowed: debug, info, warn, error";
  const std::string start =
      "is not a time, allowed: milliseconds since 1970, 0 <= x <= 9000000000000";
  const std::pair<Args, std::string> bad[] = {
      {{"--web.listen-addres=:1"},
       "--web.listen-addres: there is no such flag (did you mean --web.listen-address?), "
       "allowed: " +
           all},
      {{"--frobnicate"}, "--frobnicate: there is no such flag, allowed: " + all},
      {{"-x"}, "-x: there is no such flag, allowed: " + all},
      {{"serve"}, "the argument serve is unexpected, allowed: flags only"},
      {{"--log.level=info", "serve"}, "the argument serve is unexpected, allowed: flags only"},
      {{"--", "serve"}, "the argument serve is unexpected, allowed: flags only"},
      {{""}, "the argument \"\" is unexpected, allowed: flags only"},
      {{"--log.level=loud"}, "--log.level: loud is unknown, " + levels},
      {{"--log.level=INFO"}, "--log.level: INFO is unknown, " + levels},
      {{"--log.level"}, "--log.level: \"\" is unknown, " + levels},
      {{"--log.level="}, "--log.level: \"\" is unknown, " + levels},
      {{"--log.level=", "info"}, "the argument info is unexpected, allowed: flags only"},
      {{"--log.level", "--log.format=json"}, "--log.level: \"\" is unknown, " + levels},
      {{"--log.level=info", "--log.level=info"},
       "--log.level: the flag stands more than once, allowed: once"},
      {{"--log.level=", "--log.level=info"},
       "--log.level: the flag stands more than once, allowed: once"},
      {{"--log.format=xml"}, "--log.format: xml is unknown, allowed: logfmt, json"},
      {{"--eval.interval=99ms"},
       "--eval.interval: 99ms is out of range, allowed: 100ms <= x <= 1h"},
      {{"--eval.interval=61m"}, "--eval.interval: 61m is out of range, allowed: 100ms <= x <= 1h"},
      {{"--eval.interval=15"},
       "--eval.interval: 15 is not a duration: a unit is missing, allowed: whole numbers with the "
       "units y, w, d, h, m, "
       "s, ms in this order, as in 90s, 1h30m or 7d"},
      {{"--storage.sync=never"}, "--storage.sync: never is unknown, allowed: always, interval"},
      {{"--clock.start=now"}, "--clock.start: now " + start},
      {{"--clock.start=-1"}, "--clock.start: -1 " + start},
      {{"--clock.start=1.5"}, "--clock.start: 1.5 " + start},
      {{"--clock.start=253402300800000"}, "--clock.start: 253402300800000 " + start},
      {{"--clock.start=99999999999999999999"}, "--clock.start: 99999999999999999999 " + start},
      {{"--clock.start="}, "--clock.start: \"\" " + start},
      {{"--web.listen-address=9849"},
       "--web.listen-address: 9849 is not a listen address: the port is missing, allowed: "
       "HOST:PORT with a port from 0 "
       "to 65535, as in 0.0.0.0:9849 or [::1]:9849"}};
  for (const auto& [args, message] : bad) {
    CAPTURE(args);
    CHECK(ErrorOf(args) == message);
  }
}

TEST_CASE("Listen addresses are a host and a port", "[cmd][flags]") {
  for (const std::string_view good : {"0.0.0.0:9849", ":9849", "localhost:0", "[::]:80",
                                      "[::1]:65535", "[fe80::1%eth0]:1", "host-1.example.org:80"}) {
    CAPTURE(good);
    CHECK(CheckListenAddress(good));
  }
  const std::pair<std::string_view, std::string_view> bad[] = {
      {"", "the port is missing"},
      {"localhost", "the port is missing"},
      {"localhost:", "the port is not one"},
      {"localhost:http", "the port is not one"},
      {"localhost:-1", "the port is not one"},
      {"localhost:+1", "the port is not one"},
      {"localhost: 1", "the port is not one"},
      {"localhost:65536", "the port is not one"},
      {"localhost:99999999999", "the port is not one"},
      {"::1:80", "the host is neither a name nor an address"},
      {"http://a:80", "the host is neither a name nor an address"},
      {"a b:80", "the host is neither a name nor an address"},
      {"[::1:80", "the host is neither a name nor an address"},
      {"[]:80", "the host is not an IPv6 address"},
      {"[:]:80", "the host is not an IPv6 address"},
      {"[a.b]:80", "the host is not an IPv6 address"}};
  for (const auto& [text, why] : bad) {
    CAPTURE(text);
    const auto address = CheckListenAddress(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().message.find(" is not a listen address: " + std::string(why) +
                                       ", allowed: ") != std::string::npos);
  }
}

TEST_CASE("The help of the daemon is as it is written down", "[cmd][flags]") {
  const std::string expected = ReadTestData("help.txt");
  CHECK(Good({"--help"}).answer == expected);
  CHECK(Good({"-h"}).answer == expected);
  CHECK(Good({"--log.level=loud", "--help"}).answer == expected);
  CHECK(Good({"--version", "--help"}).answer == expected);
}

TEST_CASE("Lines of help are at most 80 columns wide and end without spaces", "[cmd][flags]") {
  const CommandSpec spec{
      "program",
      std::string(50, 'a') + " " + std::string(50, 'b'),
      {{"short", "1", "One two three four five six seven eight nine ten eleven twelve thirteen."},
       {"a.very.long.name.of.a.flag", "\"default\"", std::string(100, 'c') + " d"},
       {"switch", "", ""}},
      {{"file", "A file."}}};
  const std::string expected = "usage: program [<flags>] <file>\n\n" + std::string(50, 'a') + "\n" +
                               std::string(50, 'b') + R"(

Flags:
  -h, --help     Show context-sensitive help.
      --version  Show application version.
      --short=1  One two three four five six seven eight nine ten eleven twelve
                 thirteen.
      --a.very.long.name.of.a.flag="default"
)" + std::string(17, ' ') + std::string(100, 'c') +
                               R"(
                 d
      --switch

Args:
  <file>  A file.
)";
  CHECK(HelpText(spec) == expected);
}

TEST_CASE("The version is printed as Prometheus' programs do", "[cmd][flags]") {
  const BuildInfo& build = ThisBuild();
  CHECK_FALSE(build.branch.empty());
  CHECK_FALSE(build.revision.empty());
  CHECK(build.platform.find('/') != std::string_view::npos);
  const std::string expected = "tidemark, version " + std::string(build.version) +
                               " (branch: " + std::string(build.branch) +
                               ", revision: " + std::string(build.revision) +
                               ")\n  build type:       " + std::string(build.build_type) +
                               "\n  compiler:         " + std::string(build.compiler) +
                               "\n  platform:         " + std::string(build.platform) + "\n";
  CHECK(Good({"--version"}).answer == expected);
}

TEST_CASE("A command line has as many arguments as its command", "[cmd][flags]") {
  const CommandSpec spec{"program", "", {{"all", "", ""}}, {{"from", ""}, {"to", ""}}};
  const auto parse = [&spec](const Args& args) { return ParseCommandLine(spec, args); };
  const auto good = parse({"a", "--all", "b"});
  REQUIRE(good);
  CHECK(good->arguments == Args{"a", "b"});
  CHECK(good->flags.at("all") == "true");
  CHECK(parse({"a", "-"})->arguments == Args{"a", "-"});
  CHECK(parse({"a"}).error().message ==
        "the argument <to> is missing, allowed: flags and <from> <to>");
  CHECK(parse({"a", "b", "c"}).error().message ==
        "the argument c is unexpected, allowed: flags and <from> <to>");
  CHECK(parse({"a", "b", "--all", "--all"}).error().message ==
        "--all: the flag stands more than once, allowed: once");
  for (const std::string value : {"maybe", "false", "1"}) {
    CHECK(parse({"a", "b", "--all=" + value}).error().message ==
          "--all: it takes no value, allowed: the flag alone");
  }
  CHECK(parse({"--", "-a", "--all"})->arguments == Args{"-a", "--all"});
  CHECK(parse({"--all", "a", "--", "--"})->arguments == Args{"a", "--"});
}

}  // namespace tidemark::cmd
