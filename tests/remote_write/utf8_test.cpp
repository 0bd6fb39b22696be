#include "remote_write/utf8.h"

#include <vector>

#include "tests/catch.h"

using namespace tidemark::remote_write;
using namespace std::string_literals;

TEST_CASE("well-formed text is UTF-8 at every boundary of the encoding", "[remote_write][utf8]") {
  for (const std::string& text :
       {""s, "plain"s, "\0"s, "\x7f"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s,
        "\xee\x80\x80"s, "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s,
        "gr\xc3\xbc\xc3\x9f dich, \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x8c\x8a"s}) {
    CAPTURE(text);
    REQUIRE(IsUtf8(text));
    REQUIRE(IsUtf8(std::string(37, 'a') + text + std::string(37, 'b')));
  }
}

TEST_CASE("ill-formed text is not UTF-8 wherever it stands", "[remote_write][utf8]") {
  for (const std::string& text :
       {"\x80"s, "\xbf"s, "\xc0\x80"s, "\xc1\xbf"s, "\xc2"s, "\xc2\x41"s, "\xe0\x80\x80"s,
        "\xe0\x9f\xbf"s, "\xe1\x80"s, "\xed\xa0\x80"s, "\xed\xbf\xbf"s, "\xf0\x80\x80\x80"s,
        "\xf0\x8f\xbf\xbf"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s, "\xf1\x80\x80"s}) {
    for (size_t before = 0; before < 40; ++before) {
      REQUIRE_FALSE(IsUtf8(std::string(before, 'a') + text));
      REQUIRE_FALSE(IsUtf8(std::string(before, 'a') + text + "tail"));
    }
  }
}

TEST_CASE("a high byte is seen at every place of a text of any length", "[remote_write][utf8]") {
  for (size_t size = 0; size < 80; ++size) {
    std::string text(size, 'a');
    REQUIRE(IsAscii(text));
    for (size_t i = 0; i < size; ++i) {
      text[i] = '\x80';
      REQUIRE_FALSE(IsAscii(text));
      text[i] = 'a';
    }
  }
}

TEST_CASE("text is shown without control bytes, as UTF-8 and within its bound",
          "[remote_write][utf8]") {
  REQUIRE(Printable("a\nb\x1b\xff\xc3\xbc", 100) == "a\\x0ab\\x1b\\xff\xc3\xbc");
  REQUIRE(Printable("abc\xc3\xbc", 4) == "abc");
  REQUIRE(Printable("abc\n", 6) == "abc");
  REQUIRE(Printable("", 10).empty());
  const std::string wide(100, '\xe9');
  for (size_t bound = 0; bound < 50; ++bound) {
    const std::string shown = Printable(wide, bound);
    REQUIRE(shown.size() <= bound);
    REQUIRE(IsUtf8(shown));
  }
}
