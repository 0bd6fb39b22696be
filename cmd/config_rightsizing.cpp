#include "cmd/config_rightsizing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/config_fields.h"
#include "cmd/config_given.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

constexpr size_t kMaxRules = 1000;
constexpr size_t kMaxContainers = 1000;
constexpr size_t kMaxNameBytes = 63;  // of a container in Kubernetes (RFC 1123 label)
constexpr NumberRange kChangeRange = {
    .low = 0, .low_included = true, .high = 1, .high_included = false};
constexpr std::array<std::string_view, 4> kSelectorLabels = {"cluster", "namespace",
                                                             "workload_type", "workload"};
constexpr std::array<RightsizingMode, 3> kModes = {RightsizingMode::kOff, RightsizingMode::kDryRun,
                                                   RightsizingMode::kApply};

Result<RightsizingRule> ReadRule(const YamlValue& item) {
  RightsizingRule rule;
  GivenKeys given;
  const auto select = [&rule](const YamlValue& value) -> Result<void> {
    auto selector = ReadSelectorOver(value, "rightsizing", kSelectorLabels);
    if (!selector) return tl::unexpected(selector.error());
    rule.selector = *std::move(selector);
    return {};
  };
  const auto done =
      item.ReadMap({{"selector", given.Noting("selector", select)},
                    {"mode", given.Noting("mode", Choice(rule.mode, "mode", kModes))}});
  if (!done) return tl::unexpected(done.error());
  for (const auto& [key, allowed] :
       {std::pair("selector", "whom the rule is for, as in {namespace=\"shop\"}"),
        std::pair("mode", "off, dry-run or apply")}) {
    if (!given.Has(key)) {
      return item.WrongKey(key, fmt::format("the key is missing, allowed: {}", allowed));
    }
  }
  return rule;
}

Result<void> ReadRules(const YamlValue& value, std::vector<RightsizingRule>& out) {
  const auto items = value.ReadList(kMaxRules);
  if (!items) return tl::unexpected(items.error());
  std::vector<RightsizingRule> rules;
  rules.reserve(items->size());
  for (const YamlValue& item : *items) {
    auto rule = ReadRule(item);
    if (!rule) return tl::unexpected(rule.error());
    rules.push_back(*std::move(rule));
  }
  out = std::move(rules);
  return {};
}

bool IsContainerName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && text.front() != '-' &&
         text.back() != '-' && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

Result<void> ReadContainers(const YamlValue& value, std::vector<std::string>& out) {
  const auto items = value.ReadList(kMaxContainers);
  if (!items) return tl::unexpected(items.error());
  std::vector<std::string> names;
  for (const YamlValue& item : *items) {
    auto name = item.ReadText();
    if (!name) return tl::unexpected(name.error());
    if (!IsContainerName(*name)) {
      return item.Wrong(fmt::format(
          "{} is no name of a container, allowed: 1 to {} lower-case letters, digits and -, a "
          "letter or digit first and last",
          Shown(*name, true), kMaxNameBytes));
    }
    names.push_back(*std::move(name));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  out = std::move(names);
  return {};
}

}  // namespace

Result<void> ReadRightsizing(const YamlValue& value, RightsizingSettings& out) {
  return value.ReadMap(
      {{"mode", Choice(out.mode, "mode", kModes)},
       {"rules", [&out](const YamlValue& list) { return ReadRules(list, out.rules); }},
       {"excluded_containers",
        [&out](const YamlValue& list) { return ReadContainers(list, out.excluded_containers); }},
       {"least_change", Number(out.least_change_ratio, kChangeRange)}});
}

std::string DumpRightsizing(const RightsizingSettings& settings) {
  std::vector<std::string> containers;
  for (const std::string& name : settings.excluded_containers) {
    containers.push_back(YamlQuoted(name));
  }
  std::string out = fmt::format("rightsizing:\n  mode: {}\n", ToString(settings.mode));
  out.append(settings.rules.empty() ? "  rules: []\n" : "  rules:\n");
  for (const RightsizingRule& rule : settings.rules) {
    out.append(fmt::format("    - selector: {}\n      mode: {}\n", YamlQuoted(rule.selector.text()),
                           ToString(rule.mode)));
  }
  out.append(fmt::format("  excluded_containers: [{}]\n  least_change: {}\n",
                         fmt::join(containers, ", "), settings.least_change_ratio));
  return out;
}

}  // namespace tidemark::cmd
