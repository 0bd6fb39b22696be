#include "cmd/recommend_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/backfill_wiring.h"
#include "cmd/prometheus_access.h"
#include "cmd/text.h"
#include "cmd/units.h"
#include "model/profile.h"
#include "model/quoted.h"
#include "model/rfc3339.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kName = "tidetool recommend";
constexpr auto kMinHistory = 1h;
constexpr std::array<Preset, 3> kPresets = {Preset::kTidemark, Preset::kVpa, Preset::kOversell};
constexpr size_t kMaxPatternBytes = 4096;

/// Somebody waits for it: a server that is not there is told soon, and one that is busy is not
/// waited for as long as by a daemon. Queries follow each other one at a time, as a dashboard's.
void BeImpatient(backfill::Tuning& tuning) {
  tuning.unreachable_for = 5s;
  tuning.attempts = 3;
  tuning.pause_ratio = 0;
}

template <class T, size_t N>
Result<void> ReadChoice(const GivenFlags& flags, std::string_view name,
                        const std::array<T, N>& values, T& out) {
  const auto given = flags.find(name);
  if (given == flags.end()) return {};
  std::array<std::string_view, N> names;
  for (size_t i = 0; i < N; ++i) {
    names[i] = ToString(values[i]);
    if (names[i] != given->second) continue;
    out = values[i];
    return {};
  }
  return WrongFlag(name, fmt::format("{} is not known, allowed: {}",
                                     Shown(given->second, given->second.empty()), Join(names)));
}

template <class T>
bool ToNumber(std::string_view text, T& out) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
  return wrong == std::errc() && end == text.data() + text.size();
}

Result<void> ReadPrice(const GivenFlags& flags, std::string_view name, double& out) {
  const auto given = flags.find(name);
  if (given == flags.end()) return {};
  double price = 0;
  if (ToNumber(std::string_view(given->second), price) && price >= 0 && price <= kMaxPrice) {
    out = price;
    return {};
  }
  return WrongFlag(name, fmt::format("{} is no price, allowed: 0 <= x <= {}",
                                     Shown(given->second, given->second.empty()), kMaxPrice));
}

Result<void> ReadPrices(const GivenFlags& flags, Prices& out) {
  if (auto good = ReadPrice(flags, "price.cpu-core-hour", out.cpu_core_hour); !good) return good;
  if (auto good = ReadPrice(flags, "price.memory-gib-hour", out.memory_gib_hour); !good) {
    return good;
  }
  if (!flags.contains("currency")) return {};
  const std::string currency = FlagValue(flags, "currency");
  if (!IsCurrency(currency) || FindBadByte(currency)) {
    return WrongFlag("currency", fmt::format("{} is no currency, allowed: a short word such as USD",
                                             Shown(currency, currency.empty())));
  }
  out.currency = currency;
  return {};
}

Result<int64_t> ReadEnd(const GivenFlags& flags, int64_t now_ms) {
  if (!flags.contains("end")) return now_ms;
  const std::string text = FlagValue(flags, "end");
  std::optional<int64_t> end_ms = ParseRfc3339(text);
  double seconds = 0;
  if (const auto ago = ParseDuration(text); ago && text != "0") {
    end_ms = now_ms - ago->count();
  } else if (ToNumber(std::string_view(text), seconds) && seconds > 0 && seconds < 1e11) {
    end_ms = static_cast<int64_t>(seconds * 1000);
  }
  if (!end_ms || *end_ms <= 0 || *end_ms > now_ms) {
    return WrongFlag("end", fmt::format("{} is no time, or one that is to come; allowed: RFC 3339 "
                                        "such as 2026-11-01T00:00:00Z, seconds since 1970, or a "
                                        "duration ago such as 1d",
                                        Shown(text, text.empty())));
  }
  return *end_ms;
}

Result<void> ReadRange(const GivenFlags& flags, int64_t now_ms, RecommendOrder& order) {
  auto end_ms = ReadEnd(flags, now_ms);
  if (!end_ms) return tl::unexpected(end_ms.error());
  order.end_ms = *end_ms;
  if (flags.contains("history")) {
    const std::string text = FlagValue(flags, "history");
    const auto history = ParseDuration(text);
    if (!history || *history < kMinHistory || history->count() > backfill::kMaxRangeMs) {
      return WrongFlag("history", fmt::format("{} is no range, allowed: 1h to 400d, such as 7d",
                                              Shown(text, text.empty())));
    }
    order.backfill.range_ms = history->count();
  }
  order.start_ms = order.end_ms - order.backfill.range_ms;
  if (!flags.contains("step")) return {};
  const std::string text = FlagValue(flags, "step");
  const auto step = ParseDuration(text);
  if (!step || step->count() < backfill::kMinStepMs || step->count() > backfill::kMaxStepMs) {
    return WrongFlag("step", fmt::format("{} is no step, allowed: 15s to 5m, because counters are "
                                         "not bridged over longer gaps",
                                         Shown(text, text.empty())));
  }
  order.backfill.step_ms = step->count();
  return {};
}

Result<Selector> ReadPatterns(const GivenFlags& flags, std::string_view name,
                              std::string_view label) {
  const auto given = flags.find(name);
  if (given == flags.end()) return Selector();
  if (given->second.empty() || given->second.size() > kMaxPatternBytes) {
    return WrongFlag(name,
                     "it is empty or longer than 4096 bytes, allowed: names or regular expressions "
                     "that match whole names, separated by commas");
  }
  auto selector =
      Selector::Parse(fmt::format("{{{}=~{}}}", label, QuotedText(OneOfPatterns(given->second))));
  if (!selector) {
    return WrongFlag(name, fmt::format("{} is no list of names or regular expressions: {}",
                                       Shown(given->second), selector.error().message));
  }
  return selector;
}

Result<void> ReadFilter(const GivenFlags& flags, RecommendOrder& order) {
  auto namespaces = ReadPatterns(flags, "namespace", "namespace");
  if (!namespaces) return tl::unexpected(namespaces.error());
  order.backfill.namespaces = *std::move(namespaces);
  auto workloads = ReadPatterns(flags, "workload", "name");
  if (!workloads) return tl::unexpected(workloads.error());
  order.filter.workloads = *std::move(workloads);
  order.filter.without_pods = flags.contains("all");
  if (!flags.contains("selector")) return {};
  const std::string text = FlagValue(flags, "selector");
  auto selector = Selector::Parse(text);
  if (!selector) return WrongFlag("selector", selector.error().message);
  constexpr std::array<std::string_view, 5> kLabels = {"cluster", "namespace", "workload_type",
                                                       "workload", "container"};
  for (const Selector::Part& part : selector->Parts()) {
    if (std::ranges::find(kLabels, part.label) != kLabels.end()) continue;
    return WrongFlag("selector", fmt::format("there is no label {}, allowed: {}", Shown(part.label),
                                             Join(kLabels)));
  }
  order.filter.selector = *std::move(selector);
  return {};
}

Result<void> ReadProfiles(const GivenFlags& flags, RecommendOrder& order) {
  const std::string file = FlagValue(flags, "config.file");
  if (!file.empty()) {
    if (flags.contains("preset")) {
      return WrongFlag("preset",
                       "the profiles are those of --config.file, allowed: one of the two");
    }
    auto config = LoadConfig(file);
    if (!config) return tl::unexpected(config.error());
    order.config = *std::move(config);
    order.profiles = "profiles of " + file;
    return {};
  }
  Preset preset = Preset::kTidemark;
  if (auto good = ReadChoice(flags, "preset", kPresets, preset); !good) return good;
  order.config.engine.profiles =
      std::make_shared<const ProfileSet>(std::vector<Profile>{}, PresetProfile(preset));
  order.profiles = fmt::format("preset {}", ToString(preset));
  return {};
}

std::string WithoutSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

Result<void> ReadServer(const GivenFlags& flags, RecommendOrder& order) {
  client::HttpClientOptions& http = order.backfill.http;
  const std::string url = WithoutSlash(FlagValue(flags, "prometheus"));
  http.url = WithoutSlash(std::move(http.url));
  if (url.empty() && http.url.empty()) {
    return WrongFlag(
        "prometheus",
        "it is missing, allowed: http://HOST[:PORT][/PREFIX] or https, or --config.file "
        "with backfill.url");
  }
  // Credentials that are configured for one server are not told to another.
  if (!url.empty() && url != http.url) {
    http = {};
    http.url = url;
    order.backfill.external_labels.clear();
  }
  if (auto good = client::CheckUrl(http.url); !good) {
    return WrongFlag("prometheus", good.error().message);
  }
  if (BringsAccess(flags)) {
    if (auto good = ReadPrometheusAccess(flags, http); !good) return good;
  }
  if (auto good = client::CheckOptions(http); !good) {
    return Fail(ErrorCode::kInvalidArgument, good.error().message);
  }
  if (flags.contains("external-labels")) {
    auto labels = ReadLabelsFlag(flags, "external-labels");
    if (!labels) return tl::unexpected(labels.error());
    order.backfill.external_labels = *std::move(labels);
  }
  const auto concurrency = flags.find("concurrency");
  if (concurrency == flags.end()) return {};
  if (!ToNumber(std::string_view(concurrency->second), order.backfill.concurrency) ||
      order.backfill.concurrency < 1 || order.backfill.concurrency > backfill::kMaxConcurrency) {
    return WrongFlag("concurrency",
                     fmt::format("{} is out of range, allowed: 1 to {}", Shown(concurrency->second),
                                 backfill::kMaxConcurrency));
  }
  return {};
}

Result<void> ReadOutput(const GivenFlags& flags, RecommendOrder& order) {
  if (auto good = ReadChoice(flags, "sort", report::kAllSortBy, order.sort); !good) return good;
  if (auto good = ReadChoice(flags, "output", report::kAllOutputs, order.output); !good) {
    return good;
  }
  if (auto good = ReadChoice(flags, "color", kAllColors, order.color); !good) return good;
  if (flags.contains("no-color")) {
    if (order.color == Color::kAlways) {
      return WrongFlag("no-color", "--color=always says the opposite, allowed: one of the two");
    }
    order.color = Color::kNever;
  }
  order.output_file = FlagValue(flags, "output.file");
  order.progress = flags.contains("progress");
  if (const auto top = flags.find("top"); top != flags.end()) {
    if (!ToNumber(std::string_view(top->second), order.top) || order.top == 0) {
      return WrongFlag("top", fmt::format("{} is no number of rows, allowed: 1 and more",
                                          Shown(top->second, top->second.empty())));
    }
  }
  if (order.sort == report::SortBy::kSavings && !order.prices.Any()) {
    return WrongFlag("sort",
                     "savings are not known without prices, allowed: savings with "
                     "--price.cpu-core-hour, --price.memory-gib-hour or prices in --config.file");
  }
  return {};
}

}  // namespace

std::string_view ToString(Color color) {
  switch (color) {
    case Color::kAuto: return "auto";
    case Color::kAlways: return "always";
    case Color::kNever: return "never";
  }
  return "unknown";
}

std::string OneOfPatterns(std::string_view list) {
  std::vector<std::string> patterns(1);
  int depth = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '\\' && i + 1 < list.size()) {
      patterns.back() += c;
      patterns.back() += list[++i];
      continue;
    }
    if (c == '{' || c == '[' || c == '(') ++depth;
    if ((c == '}' || c == ']' || c == ')') && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      patterns.emplace_back();
    } else {
      patterns.back() += c;
    }
  }
  if (patterns.size() == 1) return patterns.front();
  std::string out;
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) continue;
    out += fmt::format("{}(?:{})", out.empty() ? "" : "|", pattern);
  }
  return out;
}

CommandSpec RecommendSpec() {
  CommandSpec spec = {
      std::string(kName),
      "Report what every container should request, from the history that a Prometheus-compatible "
      "API has. No daemon is needed and nothing is changed. Exit code 0: there is a report; 1: a "
      "query failed, or nothing was found; 2: a wrong flag; 130: interrupted.",
      {{"prometheus", "URL",
        "Where the history is: Prometheus, Thanos, Mimir, VictoriaMetrics. Default: backfill.url "
        "of "
        "--config.file, with the credentials from there."},
       {"history", "DURATION",
        "How far back, 1h to 400d. Default: backfill.range of --config.file, else 8d."},
       {"end", "TIME",
        "Until when: RFC 3339, seconds since 1970, or a duration ago such as 1d. Default: now."},
       {"step", "DURATION", "15s to 5m. Default: fit for the range, 1m for 8 days."},
       {"namespace", "REGEX,...",
        "Only these namespaces: names, or regular expressions that match whole names."},
       {"workload", "REGEX,...", "Only these workloads, by NAME or TYPE/NAME, likewise."},
       {"selector", "'{LABEL=\"VALUE\",...}'",
        "Only containers that match; labels are cluster, namespace, workload_type, workload and "
        "container."},
       {"all", "", "Also workloads that have no pods now."},
       {"config.file", "PATH",
        "Configuration as of the daemon: sources, profiles, prices, and how Prometheus is "
        "reached."},
       {"preset", "NAME", "Without a configuration: tidemark (the default), vpa or oversell."},
       {"sort", "ORDER", "severity (the default), savings, cpu, memory or name."},
       {"top", "N", "Only the first N rows; sums are of all."},
       {"output", "FORMAT", "table (the default), json, csv, markdown or html."},
       {"output.file", "PATH", "Write there instead of to stdout."},
       {"price.cpu-core-hour", "PRICE", "What one requested core costs for one hour."},
       {"price.memory-gib-hour", "PRICE", "What one requested GiB of memory costs for one hour."},
       {"currency", "NAME", "What the prices are in. Default: USD."},
       {"color", "WHEN",
        "auto (the default: on a terminal, and not when NO_COLOR is set), always or never."},
       {"no-color", "", "As --color=never."},
       {"progress", "", "Say how far it is on stderr, also when that is no terminal."},
       {"concurrency", "N", "Queries at a time, 1 (the default) to 4."},
       {"external-labels", "NAME=VALUE,...",
        "Labels that this Prometheus puts on what it sends, such as cluster=eu-1: its API does not "
        "tell them, and profiles may select by them."}},
      {}};
  for (FlagSpec& flag : PrometheusAccessFlags()) spec.flags.push_back(std::move(flag));
  return spec;
}

Result<RecommendOrder> ReadRecommendFlags(const CommandLine& line, int64_t now_ms) {
  const GivenFlags& flags = line.flags;
  RecommendOrder order;
  const auto read = [&]() -> Result<void> {
    if (auto good = ReadProfiles(flags, order); !good) return good;
    order.backfill = BackfillOptionsOf(order.config);
    order.prices = order.config.prices;
    BeImpatient(order.backfill.tuning);
    if (auto good = ReadServer(flags, order); !good) return good;
    if (auto good = ReadRange(flags, now_ms, order); !good) return good;
    if (auto good = ReadFilter(flags, order); !good) return good;
    if (auto good = ReadPrices(flags, order.prices); !good) return good;
    return ReadOutput(flags, order);
  };
  if (auto good = read(); !good) return tl::unexpected(good.error());
  return order;
}

}  // namespace tidemark::cmd
