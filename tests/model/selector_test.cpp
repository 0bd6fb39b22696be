#include "model/selector.h"

#include "tests/catch.h"

using namespace tidemark;

namespace {
const std::vector<LabelView> kLabels = {{"__name__", "m"}, {"mode", "user"}, {"pod", "web-1"}};

bool Matches(std::string_view text) {
  const auto selector = Selector::Parse(text);
  INFO(text << (selector ? "" : ": " + selector.error().message));
  REQUIRE(selector);
  return selector->Matches(kLabels);
}

std::string ErrorOf(std::string_view text) {
  const auto selector = Selector::Parse(text);
  INFO(text);
  REQUIRE_FALSE(selector);
  return selector.error().message;
}
}  // namespace

TEST_CASE("selectors match as PromQL's do", "[model][selector]") {
  CHECK(Matches("{}"));
  CHECK(Matches(" { } "));
  CHECK(Matches(R"({mode="user"})"));
  CHECK(Matches(R"({mode="user",pod='web-1',})"));
  CHECK_FALSE(Matches(R"({mode!="user"})"));
  CHECK(Matches(R"({mode=~"user|system"})"));
  CHECK_FALSE(Matches(R"({mode=~"use"})"));  // the whole value must match
  CHECK(Matches(R"({mode!~"use"})"));
  CHECK(Matches(R"({absent=""})"));
  CHECK_FALSE(Matches(R"({absent!=""})"));
  CHECK(Matches(R"({absent=~"|x"})"));
  CHECK(Matches("{pod=~`web-\\d+`}"));
  CHECK(Matches(R"({pod!="a\"b\\c\n"})"));
}

TEST_CASE("a wrong selector says where and what was expected", "[model][selector]") {
  CHECK(ErrorOf("mode=1") == "selector mode=1: expected { at position 1");
  CHECK(ErrorOf("{mode}") == "selector {mode}: expected one of = != =~ !~ at position 6");
  CHECK(ErrorOf("{mode=user}") == "selector {mode=user}: expected a quoted value at position 7");
  CHECK(ErrorOf("{mode=\"u}") == "selector {mode=\"u}: expected a closing quote at position 10");
  CHECK(ErrorOf("{a=\"b\" c=\"d\"}") ==
        "selector {a=\"b\" c=\"d\"}: expected , or } at position 8");
  CHECK(ErrorOf("{a=\"b\"} x") == "selector {a=\"b\"} x: expected the end at position 9");
  CHECK(ErrorOf("{1a=\"b\"}") == "selector {1a=\"b\"}: expected a label name at position 2");
  CHECK(ErrorOf("{a=\"\\q\"}") ==
        "selector {a=\"\\q\"}: expected one of \\n \\t \\r \\\\ \\\" \\' at position 6");
  CHECK(ErrorOf("{a=~\"(\"}").starts_with("selector {a=~\"(\"}: regular expression of a: "));
}

TEST_CASE("a selector tells its matchers in the order of writing", "[model][selector]") {
  CHECK(Selector().Parts().empty());
  const auto selector = Selector::Parse(R"({b="x\"", a!="", c=~"y|z", c!~'w',})");
  REQUIRE(selector);
  std::string told;
  for (const Selector::Part& part : selector->Parts()) {
    told.append(part.label).append(part.op).append(part.value).append(";");
  }
  CHECK(told == "b=x\";a!=;c=~y|z;c!~w;");
}
