// Any bytes as a selector: no crash, one line of error, and what is taken matches the same however
// it is written. The text up to the first zero byte is the selector, the parts behind it are the
// values of the labels a, b and __name__. What must hold for every input is checked with
// __builtin_trap.

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/selector.h"

namespace {

using namespace tidemark;

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

/// What stands before the next zero byte, which is taken too.
std::string_view TakePart(std::string_view& rest) {
  const size_t end = std::min(rest.find('\0'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

std::string Quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

/// As any text, with the same verdict under every way to write it.
void AnyText(std::string_view text, LabelsView labels) {
  const auto selector = Selector::Parse(text);
  if (!selector) {
    Require(selector.error().code == ErrorCode::kInvalidArgument);
    Require(selector.error().message.starts_with("selector "));
    return;
  }
  Require(selector->text() == text);
  const bool matches = selector->Matches(labels);
  const auto again = Selector::Parse(selector->text());
  Require(again.has_value());
  Require(again->Matches(labels) == matches);
  Require(again->Matches({}) == selector->Matches({}));
  const auto spaced = Selector::Parse(" " + std::string(text) + "\n");
  Require(spaced.has_value());
  Require(spaced->Matches(labels) == matches);
  Selector copy = *selector;
  Require(copy.Matches(labels) == matches);
}

/// As a value that is written out: it matches itself, and only itself.
void AnyValue(std::string_view value, std::string_view other) {
  const std::array<LabelView, 1> same = {LabelView{"a", value}};
  const std::array<LabelView, 1> different = {LabelView{"a", other}};
  const auto equal = Selector::Parse("{a=" + Quoted(value) + "}");
  const auto not_equal = Selector::Parse("{ a != " + Quoted(value) + " , }");
  Require(equal && not_equal);
  Require(equal->Matches(same) && !not_equal->Matches(same));
  Require(equal->Matches(different) == (value == other));
  Require(not_equal->Matches(different) == (value != other));
  Require(equal->Matches({}) == value.empty());

  const std::string literal = Quoted(re2::RE2::QuoteMeta({value.data(), value.size()}));
  const auto expression = Selector::Parse("{a=~" + literal + "}");
  const auto not_expression = Selector::Parse("{a!~" + literal + "}");
  Require(expression.has_value() == not_expression.has_value());
  if (!expression) return;  // not UTF-8, or too long to compile
  Require(expression->Matches(same) && !not_expression->Matches(same));
  Require(expression->Matches(different) == (value == other));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> bytes(data, data + size);
  std::string_view rest(bytes.data(), bytes.size());
  const std::string_view text = TakePart(rest);
  const std::string_view a = TakePart(rest);
  const std::string_view b = TakePart(rest);
  const std::string_view name = TakePart(rest);
  const std::array<LabelView, 3> labels = {LabelView{"__name__", name}, LabelView{"a", a},
                                           LabelView{"b", b}};
  AnyText(text, labels);
  if (size <= 256) AnyValue(a, b);
  return 0;
}
