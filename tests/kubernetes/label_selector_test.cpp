// Selectors of the Kubernetes API; the cases are those of its grammar (pkg/labels/selector.go).

#include "kubernetes/label_selector.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark;
using kubernetes::Label;
using kubernetes::LabelSelector;

namespace {

LabelSelector Parsed(std::string_view text) {
  CAPTURE(text);
  auto selector = LabelSelector::Parse(text);
  INFO((selector ? "" : selector.error().message));
  REQUIRE(selector);
  return *std::move(selector);
}

std::string Wrong(std::string_view text) {
  CAPTURE(text);
  const auto selector = LabelSelector::Parse(text);
  REQUIRE_FALSE(selector);
  CHECK(selector.error().code == ErrorCode::kInvalidArgument);
  return selector.error().message;
}

bool Holds(std::string_view text, const std::vector<Label>& labels) {
  return Parsed(text).Matches(labels);
}

}  // namespace

TEST_CASE("every operator holds for what it should", "[kubernetes][selector]") {
  const std::vector<Label> labels = {{"app", "web"}, {"tier", "a"}, {"weight", "7"}, {"empty", ""}};
  for (const std::string_view text : {"",
                                      " ",
                                      "app=web",
                                      "app==web",
                                      "app = web",
                                      "app!=api",
                                      "none!=web",
                                      "app in (web)",
                                      "app in (api,web)",
                                      "app in ( api , web )",
                                      "app notin (api)",
                                      "none notin (web)",
                                      "app notin ()",
                                      "app",
                                      "!none",
                                      "! none",
                                      "weight>6",
                                      "weight<8",
                                     
                                      "weight > 6",
                                      "app=web,tier=a",
                                      "app=web,tier in (a,b),!none,weight>5",
                                      "empty=",
                                      "empty==",
                                      "empty=,app",
                                      "empty in ()",
                                      "empty in (,)",
                                      "empty in (a,)",
                                      "empty in (,a)",
                                      "empty in (a,,b)",
                                      "app,app=web",
                                      "\tapp\t=\tweb\n",
                                      "app notin (in,notin)"}) {
    CAPTURE(text);
    CHECK(Holds(text, labels));
  }
  for (const std::string_view text :
       {"app=api",         "app!=web", "none=web",  "none=",          "none in (web)",
        "app notin (web)", "none",     "!app",      "weight>7",       "weight<7",
        "app>1",           "none>1",   "none<1",    "empty>0",        "app=web,tier=b",
        "app=web,app=api", "app=",     "app in ()", "empty notin ()", "app in (in,notin)"}) {
    CAPTURE(text);
    CHECK_FALSE(Holds(text, labels));
  }
}

TEST_CASE("in and notin are keys and values as well", "[kubernetes][selector]") {
  const std::vector<Label> labels = {{"in", "notin"}, {"notin", "in"}};
  for (const std::string_view text : {"in", "notin", "in=notin", "in in (notin)", "notin in (in)",
                                      "in notin (in)", "in,notin", "notin==in", "!x,in"}) {
    CAPTURE(text);
    CHECK(Holds(text, labels));
  }
}

TEST_CASE("keys may have a prefix, and names their length", "[kubernetes][selector]") {
  CHECK(Holds("app.kubernetes.io/name=web", {{"app.kubernetes.io/name", "web"}}));
  CHECK(Holds(std::string(63, 'a') + "=" + std::string(63, 'b'),
              {{std::string(63, 'a'), std::string(63, 'b')}}));
  CHECK(Holds(std::string(61, 'a') + "." + std::string(63, 'b') + "/x", {}) == false);
  for (const std::string& text :
       {std::string(64, 'a'), "a=" + std::string(64, 'b'), std::string("/a"), std::string("a/"),
        std::string("a/b/c"), std::string("A.b/c"), std::string("a..b/c"), std::string("-a/c"),
        std::string("-a"), std::string("a-"), std::string("a.=b"), std::string("a=b-"),
        std::string("a=b/c"), std::string("a=\"b\""), std::string("a=b*"), std::string("\xC3\xA9"),
        std::string(254, 'a') + "/b", std::string("a in (b c)"), std::string("a=_")}) {
    CAPTURE(text);
    Wrong(text);
  }
}

TEST_CASE("an error says where, what was found and what was expected", "[kubernetes][selector]") {
  CHECK(Wrong("workload===x") == "at position 11: found \"=\", expected a value");
  CHECK(Wrong("a,") == "at position 3: found the end, expected a label behind the ','");
  CHECK(Wrong(",a") == "at position 1: found \",\", expected a label");
  CHECK(Wrong("a b") == "at position 3: found \"b\", expected one of =, ==, !=, in, notin, >, <");
  CHECK(Wrong("!a=b") == "at position 3: found \"=\", expected ',' or the end");
  CHECK(Wrong("a in b") == "at position 6: found \"b\", expected '('");
  CHECK(Wrong("a in (b") == "at position 8: found the end, expected ',' or ')'");
  CHECK(Wrong("a in (") == "at position 7: found the end, expected a value, ',' or ')'");
  CHECK(Wrong("!") == "at position 2: found the end, expected a label");
  CHECK(Wrong("a>b") == "\"b\" is no whole number, as > and < need it (label \"a\")");
  CHECK(Wrong("a>").ends_with("is no whole number, as > and < need it (label \"a\")"));
  CHECK(Wrong("a>99999999999999999999").find("no whole number") != std::string::npos);
  CHECK(Wrong("a b=c").starts_with("at position 3"));
  CHECK(Wrong("a=b c").starts_with("at position 5"));
  CHECK(Wrong("()").starts_with("at position 1"));
  CHECK(Wrong(std::string(LabelSelector::kLongest + 1, 'a')).find("at most 16384") !=
        std::string::npos);
}

TEST_CASE("what a selector pins down can be asked for", "[kubernetes][selector]") {
  const LabelSelector selector = Parsed("workload=web,container in (a,b),unit in (core),!x");
  CHECK(selector.Exact("workload") == "web");
  CHECK(selector.Exact("unit") == "core");
  CHECK_FALSE(selector.Exact("container"));
  CHECK_FALSE(selector.Exact("x"));
  CHECK(selector.Mentions("container"));
  CHECK(selector.Mentions("x"));
  CHECK_FALSE(selector.Mentions("workload_type"));
  CHECK(LabelSelector().IsEmpty());
}

TEST_CASE("random selectors hold exactly where their requirements do", "[kubernetes][selector]") {
  const uint32_t seed = testing::Seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&random](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  };
  const std::vector<std::string> keys = {"a", "b", "c/d", "in"};
  const std::vector<std::string> values = {"", "1", "2", "x", "notin"};
  for (int round = 0; round < 5000; ++round) {
    std::map<std::string, std::string> labels;
    for (const std::string& key : keys) {
      if (below(2) == 0) labels[key] = values[below(values.size())];
    }
    const std::vector<Label> views(labels.begin(), labels.end());
    std::string text;
    bool expected = true;
    for (size_t i = below(4); i > 0; --i) {
      const std::string& key = keys[below(keys.size())];
      const bool has = labels.contains(key);
      const std::string value = has ? labels[key] : "";
      const std::string first = values[below(values.size())];
      const std::string second = values[below(values.size())];
      const std::string space = below(2) == 0 ? " " : "";
      if (!text.empty()) text += "," + space;
      switch (below(6)) {
        case 0:
          text += key + space + (below(2) == 0 ? "=" : "==") + space + first;
          expected = expected && has && value == first;
          break;
        case 1:
          text += key + space + "!=" + space + first;
          expected = expected && (!has || value != first);
          break;
        case 2:
          text += key + " in (" + first + "," + space + second + ")";
          expected = expected && has && (value == first || value == second);
          break;
        case 3:
          text += key + " notin (" + first + space + "," + second + ")";
          expected = expected && (!has || (value != first && value != second));
          break;
        case 4:
          text += key;
          expected = expected && has;
          break;
        default: text += "!" + space + key; expected = expected && !has;
      }
    }
    CAPTURE(text);
    CHECK(Parsed(text).Matches(views) == expected);
  }
}

TEST_CASE("no bytes do harm", "[kubernetes][selector]") {
  const uint32_t seed = testing::Seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::string_view letters = "ab/.-_=!<>(), \t\n\x01\xFFin5";
  size_t good = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = std::uniform_int_distribution<int>(0, 12)(random); i > 0; --i) {
      text += letters[std::uniform_int_distribution<size_t>(0, letters.size() - 1)(random)];
    }
    const auto selector = LabelSelector::Parse(text);
    if (!selector) continue;
    ++good;
    CHECK(selector->text() == text);
    // What is taken once is taken again.
    CHECK(LabelSelector::Parse(selector->text()));
  }
  CHECK(good > 0);
}
