#include "exporter/json_writer.h"

#include <boost/json.hpp>
#include <limits>

#include "model/rfc3339.h"
#include "tests/catch.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

std::string Quoted(std::string_view text) {
  JsonWriter json;
  json.String(text);
  return json.Take();
}

}  // namespace

TEST_CASE("JSON has commas where they belong", "[exporter][json]") {
  JsonWriter json;
  json.BeginObject();
  json.Key("a");
  json.BeginArray();
  json.BeginArray();
  json.EndArray();
  json.Number(0.5);
  json.Integer(-3);
  json.Unsigned(18446744073709551615U);
  json.Bool(false);
  json.BeginObject();
  json.EndObject();
  json.EndArray();
  json.Member("b", "c");
  json.EndObject();
  CHECK(json.Take() == R"({"a":[[],0.5,-3,18446744073709551615,false,{}],"b":"c"})");
  json.Bool(true);
  CHECK(json.Take() == "true");
}

TEST_CASE("numbers that JSON cannot write are null", "[exporter][json]") {
  JsonWriter json;
  json.BeginArray();
  json.Number(std::numeric_limits<double>::quiet_NaN());
  json.Number(-std::numeric_limits<double>::infinity());
  json.Number(1e300);
  json.EndArray();
  CHECK(json.Take() == "[null,null,1e+300]");
}

TEST_CASE("strings are escaped and stay UTF-8 whatever comes", "[exporter][json]") {
  CHECK(Quoted("a\"b\\c\nd\te\x01") == R"("a\"b\\c\nd\u0009e\u0001")");
  CHECK(Quoted(std::string_view("\0", 1)) == R"("\u0000")");
  CHECK(Quoted("K\xC3\xB6ln \xF0\x9F\x8C\x8A") == "\"K\xC3\xB6ln \xF0\x9F\x8C\x8A\"");
  for (const char* bad : {"\xFF", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xE2\x82"}) {
    const std::string text = Quoted(bad);
    INFO(text);
    boost::json::error_code error;
    boost::json::parse(text, error);  // refuses what is not UTF-8
    CHECK_FALSE(error);
    CHECK(text.find("\xEF\xBF\xBD") == 1);
  }
}

TEST_CASE("times are written as RFC 3339", "[exporter][json]") {
  CHECK(FormatRfc3339(0) == "1970-01-01T00:00:00.000Z");
  CHECK(FormatRfc3339(1700000000123) == "2023-11-14T22:13:20.123Z");
  CHECK(FormatRfc3339(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(FormatRfc3339(951782400000) == "2000-02-29T00:00:00.000Z");
  CHECK(FormatRfc3339(std::numeric_limits<int64_t>::max()) == "9999-12-31T23:59:59.999Z");
  CHECK(FormatRfc3339(std::numeric_limits<int64_t>::min()) == "0000-01-01T00:00:00.000Z");
}
