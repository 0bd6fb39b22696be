// How input is shown in errors, near names, and UTF-8.

#include "cmd/text.h"

#include <array>
#include <string>
#include <string_view>

#include "tests/catch.h"

namespace tidemark::cmd {

using namespace std::string_literals;

TEST_CASE("Plain words are shown as they are, everything else in quotes", "[cmd][text]") {
  CHECK(Shown("1.5") == "1.5");
  CHECK(Shown("--log.level") == "--log.level");
  CHECK(Shown("1.5", true) == "\"1.5\"");
  CHECK(Shown("") == "\"\"");
  CHECK(Shown("a b") == "\"a b\"");
  CHECK(Shown("\"\\\n\t\x01\x7f") == R"("\"\\\n\t\x01\x7f")");
  CHECK(Shown("\xc3\xa9") == "\"\xc3\xa9\"");
}

TEST_CASE("Long text is cut at the border of a character", "[cmd][text]") {
  CHECK(Shown(std::string(64, 'x')) == std::string(64, 'x'));
  CHECK(Shown(std::string(65, 'x')) == std::string(64, 'x') + "...");
  CHECK(Shown(std::string(63, 'x') + "\xc3\xa9") == std::string(63, 'x') + "...");
}

TEST_CASE("Text is brought on one line", "[cmd][text]") {
  CHECK(OneLine("a\nb\x01\x7f\xc3\xa9") == "a b  \xc3\xa9");
}

TEST_CASE("A near name is found and a far one is not", "[cmd][text]") {
  constexpr std::array<std::string_view, 5> kNames = {"percentile", "margin", "memory", "half_life",
                                                      "pod"};
  CHECK(ClosestName("percentle", kNames) == "percentile");
  CHECK(ClosestName("pods", kNames) == "pod");
  CHECK(ClosestName("mem", kNames) == "memory");
  CHECK(ClosestName("halflife", kNames) == "half_life");
  CHECK(ClosestName("xyz", kNames) == std::nullopt);
  CHECK(ClosestName("", kNames) == std::nullopt);
  CHECK(ClosestName(std::string(100'000, 'p'), kNames) == std::nullopt);
  CHECK(ClosestName("pod", {}) == std::nullopt);
}

TEST_CASE("Bytes that are not UTF-8 text are found", "[cmd][text]") {
  for (const std::string& good :
       {""s, "a\t\r\n~"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s,
        "\xee\x80\x80"s, "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s}) {
    CAPTURE(good);
    CHECK(FindBadByte(good) == std::nullopt);
  }
  for (const std::string& bad :
       {"\0"s, "\x1f"s, "\x7f"s, "\x80"s, "\xc0\x80"s, "\xc1\xbf"s, "\xc2"s, "\xc2\x41"s,
        "\xe0\x9f\xbf"s, "\xe1\x80"s, "\xed\xa0\x80"s, "\xf0\x8f\xbf\xbf"s, "\xf0\x90\x80"s,
        "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s}) {
    CAPTURE(bad);
    CHECK(FindBadByte(bad) == size_t{0});
    CHECK(FindBadByte("\xc3\xa9" + bad) == size_t{2});
  }
}

}  // namespace tidemark::cmd
