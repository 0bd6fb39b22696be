#include "model/log.h"

#include <vector>

#include "tests/catch.h"

using namespace tidemark;

namespace {
/// Catches lines and puts everything back.
struct Capture {
  std::vector<std::string> lines;
  Capture() {
    SetLogSink([this](std::string_view line) { lines.emplace_back(line); });
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    SetLogSink({});
    ConfigureLog(LogLevel::kInfo, LogFormat::kLogfmt);
  }
  /// The line without its time.
  std::string Line(size_t i) const { return lines.at(i).substr(lines.at(i).find(' ') + 1); }
};
}  // namespace

TEST_CASE("a line is logfmt and cannot be forged", "[model][log]") {
  Capture capture;
  Log(LogLevel::kWarn, "refused",
      {{"peer", "1.2.3.4:5"}, {"text", "a b\n\"c\" \x1b[2J"}, {"none", ""}});
  REQUIRE(capture.lines.size() == 1);
  CHECK(capture.lines[0].starts_with("ts=2"));
  CHECK(capture.Line(0) ==
        R"(level=warn msg=refused peer=1.2.3.4:5 text="a b\n\"c\" \u001b[2J" none="")");
}

TEST_CASE("a line is JSON when asked", "[model][log]") {
  Capture capture;
  ConfigureLog(LogLevel::kDebug, LogFormat::kJson);
  Log(LogLevel::kDebug, "hello there", {{"k", "v"}});
  REQUIRE(capture.lines.size() == 1);
  CHECK(capture.lines[0].ends_with(R"("level":"debug","msg":"hello there","k":"v"})"));
  CHECK(capture.lines[0].starts_with(R"({"ts":")"));
}

TEST_CASE("what is not UTF-8 is escaped in both formats", "[model][log]") {
  Capture capture;
  const std::string text = "\xff\xc3\xbc\xed\xa0\x80\xe2\x82";  // only the second is a character
  const std::string shown = "\"\\\\xff\xc3\xbc\\\\xed\\\\xa0\\\\x80\\\\xe2\\\\x82\"";
  Log(LogLevel::kWarn, "m", {{"path", text}});
  ConfigureLog(LogLevel::kInfo, LogFormat::kJson);
  Log(LogLevel::kWarn, "m", {{"path", text}});
  REQUIRE(capture.lines.size() == 2);
  CHECK(capture.lines[0].ends_with("path=" + shown));
  CHECK(capture.lines[1].ends_with("\"path\":" + shown + "}"));
}

TEST_CASE("a long value is cut between two characters", "[model][log]") {
  Capture capture;
  Log(LogLevel::kWarn, "m", {{"path", std::string(2048, 'a') + "b"}});
  Log(LogLevel::kWarn, "m", {{"path", std::string(2047, 'a') + "\xc3\xbc"}});
  Log(LogLevel::kWarn, "m", {{"path", std::string(9000, '\xbf')}});
  REQUIRE(capture.lines.size() == 3);
  CHECK(capture.lines[0].ends_with("path=" + std::string(2048, 'a')));
  CHECK(capture.lines[1].ends_with("path=" + std::string(2047, 'a')));
  CHECK(capture.lines[2].size() < 11'000);  // each byte takes five
}

TEST_CASE("levels below the one in force are dropped", "[model][log]") {
  Capture capture;
  ConfigureLog(LogLevel::kWarn, LogFormat::kLogfmt);
  Log(LogLevel::kInfo, "no");
  LogOncePerMinute("kind", LogLevel::kInfo, "no");
  CHECK(capture.lines.empty());
}

TEST_CASE("a kind is logged once a minute", "[model][log]") {
  Capture capture;
  for (int i = 0; i < 5; ++i) LogOncePerMinute("a", LogLevel::kWarn, "first kind");
  LogOncePerMinute("b", LogLevel::kWarn, "second kind");
  REQUIRE(capture.lines.size() == 2);
  CHECK(capture.Line(0) == "level=warn msg=\"first kind\"");
  CHECK(capture.Line(1) == "level=warn msg=\"second kind\"");
}
