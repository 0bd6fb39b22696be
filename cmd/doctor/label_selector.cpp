#include "cmd/doctor/label_selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cmd/doctor/json_view.h"

namespace tidemark::doctor {
namespace {

bool MatchesExpression(const boost::json::value& expression, const LabelMap& labels) {
  const auto label = labels.find(TextAt(expression, {"key"}));
  const bool has = label != labels.end();
  const std::string how = TextAt(expression, {"operator"});
  if (how == "Exists") return has;
  if (how == "DoesNotExist") return !has;
  const std::vector<std::string> values = TextsAt(expression, {"values"});
  const bool among = has && std::ranges::find(values, label->second) != values.end();
  if (how == "In") return among;
  if (how == "NotIn") return !among;
  return false;
}

}  // namespace

bool Matches(const boost::json::value* selector, const LabelMap& labels) {
  if (selector == nullptr) return true;
  for (const auto& member : MapAt(*selector, {"matchLabels"})) {
    const auto label = labels.find(std::string(member.key()));
    const auto* const text = member.value().if_string();
    if (text == nullptr || label == labels.end() || label->second != std::string(*text)) {
      return false;
    }
  }
  return std::ranges::all_of(
      ListAt(*selector, {"matchExpressions"}),
      [&](const boost::json::value& expression) { return MatchesExpression(expression, labels); });
}

std::string SelectorText(const boost::json::value& selector) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : LabelsOf(MapAt(selector, {"matchLabels"}))) {
    parts.push_back(fmt::format("{}={}", key, value));
  }
  for (const boost::json::value& expression : ListAt(selector, {"matchExpressions"})) {
    const std::string key = TextAt(expression, {"key"});
    const std::string how = TextAt(expression, {"operator"});
    if (how == "Exists") {
      parts.push_back(key);
    } else if (how == "DoesNotExist") {
      parts.push_back("!" + key);
    } else {
      parts.push_back(fmt::format("{} {} ({})", key, how == "In" ? "in" : "notin",
                                  fmt::join(TextsAt(expression, {"values"}), ",")));
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

LabelMap LabelsOf(const boost::json::value& object) {
  LabelMap labels;
  for (const auto& member : MapAt(object, {})) {
    if (const auto* const text = member.value().if_string()) {
      labels.emplace(std::string(member.key()), std::string(*text));
    }
  }
  return labels;
}

}  // namespace tidemark::doctor
