#include "cmd/config_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/config_fields.h"
#include "cmd/text.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxRules = 1000;
constexpr int64_t kMaxWorkloads = 1'000'000;
constexpr auto kMaxStartup = 1h;
constexpr int64_t kMinuteMs = 60'000;
// What lies at the ends cannot be told from what is seen in a week.
constexpr NumberRange kIntervalRange = {.low = 0.5, .low_included = false, .high = 0.999};
constexpr NumberRange kMarginRange = {.low = 0, .low_included = true, .high = 0.9};
constexpr NumberRange kRiskRange = {.low = 1e-6, .low_included = true, .high = 0.49};
constexpr NumberRange kBudgetRange = {.low = 0, .low_included = true, .high = 1};
constexpr std::array<std::string_view, 4> kSelectorLabels = {"cluster", "namespace",
                                                             "workload_type", "workload"};
constexpr std::string_view kBest = "best";

std::string Minutes(int64_t minutes) { return FormatDuration(std::chrono::minutes(minutes)); }

/// One to four, rising.
Result<void> ReadHorizons(const YamlValue& value, std::vector<int32_t>& out) {
  const auto items = value.ReadList(kMaxForecastHorizons);
  if (!items) return tl::unexpected(items.error());
  if (items->empty()) {
    return value.Wrong(fmt::format("there is none, allowed: 1 to {} durations, as in [1m, 3m, 10m]",
                                   kMaxForecastHorizons));
  }
  std::vector<int32_t> horizons;
  for (const YamlValue& item : *items) {
    int64_t ms = 0;
    if (auto done = Duration(ms, 1min, std::chrono::minutes(kMaxForecastHorizonMinutes))(item);
        !done) {
      return done;
    }
    if (ms % kMinuteMs != 0) {
      return item.Wrong(fmt::format("{} are no whole minutes, allowed: whole minutes",
                                    FormatDuration(std::chrono::milliseconds(ms))));
    }
    const auto minutes = static_cast<int32_t>(ms / kMinuteMs);
    if (!horizons.empty() && minutes <= horizons.back()) {
      return item.Wrong(fmt::format("{} stands behind {}, allowed: rising durations",
                                    Minutes(minutes), Minutes(horizons.back())));
    }
    horizons.push_back(minutes);
  }
  out = std::move(horizons);
  return {};
}

std::vector<std::string_view> AllModelNames() {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kForecastModelCount; ++i) {
    names.push_back(ToString(static_cast<ForecastModel>(i)));
  }
  return names;
}

Result<ForecastModel> ReadModelName(const YamlValue& value, std::string_view text) {
  if (const auto model = ForecastModelNamed(text)) return *model;
  return NoSuch(value, "model", text, AllModelNames());
}

Result<void> ReadModels(const YamlValue& value, std::vector<ForecastModel>& out) {
  const auto items = value.ReadList(kForecastModelCount);
  if (!items) return tl::unexpected(items.error());
  std::vector<ForecastModel> models;
  for (const YamlValue& item : *items) {
    const auto text = item.ReadText();
    if (!text) return tl::unexpected(text.error());
    const auto model = ReadModelName(item, *text);
    if (!model) return tl::unexpected(model.error());
    if (std::ranges::find(models, *model) != models.end()) {
      return item.Wrong(fmt::format("{} stands there already, allowed: each model once", *text));
    }
    models.push_back(*model);
  }
  // The last value always is a candidate: what cannot beat it is not worth having.
  if (std::ranges::find(models, ForecastModel::kLastValue) == models.end()) {
    models.push_back(ForecastModel::kLastValue);
  }
  std::ranges::sort(models);
  out = std::move(models);
  return {};
}

Result<void> ReadAlways(const YamlValue& value, std::optional<ForecastModel>& out) {
  const auto text = value.ReadText();
  if (!text) return tl::unexpected(text.error());
  if (*text == kBest) {
    out.reset();
    return {};
  }
  if (const auto model = ForecastModelNamed(*text)) {
    out = *model;
    return {};
  }
  std::vector<std::string_view> names = AllModelNames();
  names.insert(names.begin(), kBest);
  return NoSuch(value, "model", *text, names);
}

Result<void> ReadResource(const YamlValue& value, const ResourceTable& resources, Resource& out) {
  const auto text = value.ReadText();
  if (!text) return tl::unexpected(text.error());
  if (const auto resource = resources.Parse(*text)) {
    out = *resource;
    return {};
  }
  std::vector<std::string_view> names;
  for (const Resource resource : resources.all()) names.push_back(resources.NameOf(resource));
  return NoSuch(value, "resource", *text, names);
}

Result<ForecastRule> ReadRule(const YamlValue& item, const ResourceTable& resources) {
  ForecastRule rule;
  bool selects = false;
  const auto done = item.ReadMap(
      {{"selector",
        [&](const YamlValue& value) -> Result<void> {
          auto selector = ReadSelectorOver(value, "forecasts", kSelectorLabels);
          if (!selector) return tl::unexpected(selector.error());
          rule.selector = *std::move(selector);
          selects = true;
          return {};
        }},
       {"steps", Choice(rule.steps, "kind of steps", kAllDemandSteps)},
       {"resource",
        [&](const YamlValue& value) { return ReadResource(value, resources, rule.resource); }},
       {"models", [&](const YamlValue& value) { return ReadModels(value, rule.models); }},
       {"model", [&](const YamlValue& value) { return ReadAlways(value, rule.always); }},
       {"startup", Duration(rule.startup_ms, 0ms, kMaxStartup)}});
  if (!done) return tl::unexpected(done.error());
  if (!selects) {
    return item.WrongKey("selector",
                         "the key is missing, allowed: whom the rule is for, as in "
                         "{namespace=\"shop\"}; {} is everybody");
  }
  return rule;
}

Result<void> ReadRules(const YamlValue& value, const ResourceTable& resources,
                       std::vector<ForecastRule>& out) {
  const auto items = value.ReadList(kMaxRules);
  if (!items) return tl::unexpected(items.error());
  std::vector<ForecastRule> rules;
  rules.reserve(items->size());
  for (const YamlValue& item : *items) {
    auto rule = ReadRule(item, resources);
    if (!rule) return tl::unexpected(rule.error());
    rules.push_back(*std::move(rule));
  }
  out = std::move(rules);
  return {};
}

std::string ModelNames(const std::vector<ForecastModel>& models) {
  std::vector<std::string_view> names;
  names.reserve(models.size());
  for (const ForecastModel model : models) names.push_back(ToString(model));
  return Join(names);
}

std::string HorizonNames(const ForecastSettings& settings) {
  std::string names;
  for (const int32_t minutes : settings.horizons_minutes) {
    if (!names.empty()) names.append(", ");
    names.append(Minutes(minutes));
  }
  return names;
}

std::string DumpRule(const ForecastRule& rule, const ResourceTable& resources) {
  return fmt::format(
      "    - selector: {}\n      steps: {}\n      resource: {}\n      models: [{}]\n"
      "      model: {}\n      startup: {}\n",
      YamlQuoted(rule.selector.text()), ToString(rule.steps),
      YamlQuoted(resources.NameOf(rule.resource)), ModelNames(rule.models),
      rule.always ? ToString(*rule.always) : kBest,
      FormatDuration(std::chrono::milliseconds(rule.startup_ms)));
}

}  // namespace

Result<void> ReadForecast(const YamlValue& value, const ResourceTable& resources,
                          ForecastSettings& out) {
  int64_t max_workloads = out.max_workloads;
  auto done = value.ReadMap(
      {{"horizons",
        [&](const YamlValue& list) { return ReadHorizons(list, out.horizons_minutes); }},
       {"interval_ratio", Number(out.interval_ratio, kIntervalRange)},
       {"network_margin_ratio", Number(out.network_margin_ratio, kMarginRange)},
       {"high_water_risk", Number(out.high_water_risk, kRiskRange)},
       {"training_budget_ratio", Number(out.training_budget_ratio, kBudgetRange)},
       {"max_workloads", WholeNumber(max_workloads, 0, kMaxWorkloads)},
       {"workloads",
        [&](const YamlValue& list) { return ReadRules(list, resources, out.rules); }}});
  out.max_workloads = static_cast<int32_t>(max_workloads);
  return done;
}

std::string DumpForecast(const ForecastSettings& settings, const ResourceTable& resources) {
  std::string out = fmt::format(
      "forecast:\n  horizons: [{}]\n  interval_ratio: {}\n  network_margin_ratio: {}\n"
      "  high_water_risk: {}\n  training_budget_ratio: {}\n  max_workloads: {}\n",
      HorizonNames(settings), settings.interval_ratio, settings.network_margin_ratio,
      settings.high_water_risk, settings.training_budget_ratio, settings.max_workloads);
  if (settings.rules.empty()) return out.append("  workloads: []\n");
  out.append("  workloads:\n");
  for (const ForecastRule& rule : settings.rules) out.append(DumpRule(rule, resources));
  return out;
}

std::string ForecastLine(const ForecastSettings& settings, const ResourceTable& resources,
                         const WorkloadId& workload) {
  const ForecastRule* const found = settings.FindRule(workload);
  const ForecastRule rule = settings.RuleOf(workload);
  std::string line = "forecast: ";
  if (found == nullptr) {
    line.append("no rule matches, as is usual for its type: ");
  } else {
    fmt::format_to(std::back_inserter(line), "rule {} {}: ", found - settings.rules.data() + 1,
                   OneLine(found->selector.text()));
  }
  const std::string_view resource = resources.NameOf(rule.resource);
  if (rule.steps == DemandSteps::kNone) return line.append("its demand is not kept\n");
  if (rule.steps == DemandSteps::kFiveMinutes) {
    fmt::format_to(std::back_inserter(line),
                   "demand of {} is kept in steps of five minutes and not forecast", resource);
  } else {
    fmt::format_to(std::back_inserter(line), "{} {} ahead by {}", resource, HorizonNames(settings),
                   rule.always ? fmt::format("{} once it is fitted, before that by the best of {}",
                                             ToString(*rule.always), ModelNames(rule.models))
                               : fmt::format("the best of {}", ModelNames(rule.models)));
  }
  if (rule.startup_ms > 0) {
    fmt::format_to(std::back_inserter(line), "; pods count in full from an age of {} on",
                   FormatDuration(std::chrono::milliseconds(rule.startup_ms)));
  }
  return line.append("\n");
}

}  // namespace tidemark::cmd
