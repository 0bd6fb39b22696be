#include "cmd/forecast_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cmd/prometheus_access.h"
#include "cmd/text.h"
#include "cmd/time_flags.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr auto kDefaultRange = 8 * 24h;
constexpr auto kShortest = 2h;
constexpr auto kLongest = 90 * 24h;
constexpr std::string_view kAll = "all";
/// Networks are left out: they take minutes for each series.
constexpr std::array kDefaultModels = {ForecastModel::kLastValue,   ForecastModel::kDayRise,
                                       ForecastModel::kSeasonalDay, ForecastModel::kSeasonalWeek,
                                       ForecastModel::kHoltWinters, ForecastModel::kRidge30,
                                       ForecastModel::kRidge60,     ForecastModel::kArima};
constexpr std::array<std::string_view, 3> kPrometheusFlags = {"query", "start", "end"};

std::string ModelNames() {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kForecastModelCount; ++i) {
    names.push_back(ToString(static_cast<ForecastModel>(i)));
  }
  return Join(names);
}

std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Result<void> ReadModels(const GivenFlags& flags, forecast::BacktestOptions& options) {
  std::vector<ForecastModel> models(kDefaultModels.begin(), kDefaultModels.end());
  if (flags.contains("models")) {
    models.clear();
    const std::string text = FlagValue(flags, "models");
    for (const std::string_view name : Parts(text)) {
      if (name == kAll) {
        for (size_t i = 0; i < kForecastModelCount; ++i) {
          models.push_back(static_cast<ForecastModel>(i));
        }
        continue;
      }
      const auto model = ForecastModelNamed(name);
      if (!model) {
        return WrongFlag("models", fmt::format("{} is no model, allowed: {}, comma-separated, or "
                                               "{}",
                                               Shown(name, name.empty()), ModelNames(), kAll));
      }
      models.push_back(*model);
    }
    models.push_back(ForecastModel::kLastValue);  // what all others are held against
    std::ranges::sort(models);
    models.erase(std::unique(models.begin(), models.end()), models.end());
  }
  options.rule.models = std::move(models);
  return {};
}

Result<void> ReadHorizons(const GivenFlags& flags, std::vector<int32_t>& horizons) {
  if (!flags.contains("horizons")) return {};
  const auto wrong = [](std::string_view part) {
    return WrongFlag(
        "horizons",
        fmt::format("{} is no horizon that may stand there, allowed: up to {} whole "
                    "minutes from 1m to {}m, rising, such as 1m,3m,10m",
                    Shown(part, part.empty()), kMaxForecastHorizons, kMaxForecastHorizonMinutes));
  };
  horizons.clear();
  const std::string text = FlagValue(flags, "horizons");
  for (const std::string_view part : Parts(text)) {
    const auto duration = ParseDuration(part);
    if (!duration || *duration < 1min ||
        *duration > std::chrono::minutes(kMaxForecastHorizonMinutes) ||
        *duration % 1min != std::chrono::milliseconds(0)) {
      return wrong(part);
    }
    const auto minutes = static_cast<int32_t>(*duration / 1min);
    if (horizons.size() == kMaxForecastHorizons ||
        (!horizons.empty() && minutes <= horizons.back())) {
      return wrong(part);
    }
    horizons.push_back(minutes);
  }
  return {};
}

Result<void> ReadInterval(const GivenFlags& flags, double& ratio) {
  if (!flags.contains("interval")) return {};
  const std::string text = FlagValue(flags, "interval");
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  if (wrong == std::errc() && end == text.data() + text.size() && ratio > 0.5 && ratio < 1) {
    return {};
  }
  return WrongFlag("interval", fmt::format("{} is no share, allowed: between 0.5 and 1, such as "
                                           "0.9",
                                           Shown(text, text.empty())));
}

Result<backtest::DemandQuery> ReadPrometheus(const GivenFlags& flags, int64_t now_ms) {
  backtest::DemandQuery source;
  if (auto good = ReadPrometheusServer(flags, source.http); !good) {
    return tl::unexpected(good.error());
  }
  source.query = FlagValue(flags, "query");
  if (source.query.empty()) {
    return WrongFlag("query",
                     "it is missing, allowed: PromQL that gives a demand, such as sum by "
                     "(namespace) (rate(http_requests_total[2m]))");
  }
  const auto end = ReadTime(flags, "end", now_ms, now_ms);
  if (!end) return tl::unexpected(end.error());
  const auto start =
      ReadTime(flags, "start", *end - std::chrono::milliseconds(kDefaultRange).count(), now_ms);
  if (!start) return tl::unexpected(start.error());
  source.start_ms = *start;
  source.end_ms = *end;
  const std::chrono::milliseconds range(*end - *start);
  if (*start < 0 || range < kShortest || range > kLongest) {
    return WrongFlag("start", fmt::format("the time from --start to --end is not in range, "
                                          "allowed: {} to {}",
                                          FormatDuration(kShortest), FormatDuration(kLongest)));
  }
  return source;
}

Result<void> ReadSource(const CommandLine& line, int64_t now_ms, ForecastOrder& order) {
  if (!line.arguments.empty()) order.path = line.arguments.front();
  const bool asks = line.flags.contains("prometheus");
  if (asks != order.path.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                asks ? "--prometheus: it does not go with a path, allowed: one of them"
                     : "nothing to forecast, allowed: a CSV file or a folder of them, or "
                       "--prometheus=URL with --query=PROMQL");
  }
  if (asks) {
    auto source = ReadPrometheus(line.flags, now_ms);
    if (!source) return tl::unexpected(source.error());
    order.prometheus = *std::move(source);
    return {};
  }
  const auto alone = [](std::string_view name) {
    return WrongFlag(name, "it does not go with a path, allowed: with --prometheus");
  };
  for (const std::string_view name : kPrometheusFlags) {
    if (line.flags.contains(name)) return alone(name);
  }
  for (const FlagSpec& flag : PrometheusAccessFlags()) {
    if (line.flags.contains(flag.name)) return alone(flag.name);
  }
  return {};
}

Result<void> ReadOutput(const GivenFlags& flags, ForecastOrder& order) {
  order.output_file = FlagValue(flags, "output.file");
  const std::string text = flags.contains("output") ? FlagValue(flags, "output") : "table";
  if (text == "table") {
    order.output = ForecastOutput::kTable;
  } else if (text == "json") {
    order.output = ForecastOutput::kJson;
  } else if (text == "html") {
    order.output = ForecastOutput::kHtml;
  } else {
    return WrongFlag("output", fmt::format("{} is no form of output, allowed: table, json, html",
                                           Shown(text, text.empty())));
  }
  return {};
}

}  // namespace

CommandSpec ForecastSpec() {
  CommandSpec spec = {
      "tidetool forecast",
      "Test all forecast models on a recorded demand: minute by minute, as the daemon would have "
      "used them. docs/forecast-tool.md says what the figures mean.",
      {{"prometheus", "URL", "Instead of a path: a Prometheus-compatible API."},
       {"query", "PROMQL",
        "Of --prometheus: the demand; each series that it gives is tested by itself."},
       {"start", "TIME",
        "Of --prometheus: RFC 3339, seconds since 1970, or a duration ago such as 14d. Default: 8d "
        "before the end."},
       {"end", "TIME", "The same. Default: now."},
       {"models", "MODEL,...",
        "Comma-separated: " + ModelNames() +
            "; or all. Default: all but lstm and bilstm, which "
            "take minutes for each series. last_value is always tested."},
       {"horizons", "1m,3m,10m", "How far ahead, rising."},
       {"interval", "0.9", "The share of what comes that intervals are made to hold."},
       {"warm-up", "1d", "At the start of each series: learnt from, but not scored."},
       {"output", "table", "table, json or html."},
       {"output.file", "PATH", "Where to write it. Default: standard output."}},
      {{"path", "A CSV file (unix_seconds,value), or a folder of them.", true}}};
  for (FlagSpec& flag : PrometheusAccessFlags()) spec.flags.push_back(std::move(flag));
  return spec;
}

Result<ForecastOrder> ReadForecastFlags(const CommandLine& line, int64_t now_ms) {
  ForecastOrder order;
  if (auto good = ReadSource(line, now_ms, order); !good) return tl::unexpected(good.error());
  if (auto good = ReadModels(line.flags, order.options); !good) return tl::unexpected(good.error());
  forecast::BacktestOptions& options = order.options;
  if (auto good = ReadHorizons(line.flags, options.settings.horizons_minutes); !good) {
    return tl::unexpected(good.error());
  }
  if (auto good = ReadInterval(line.flags, options.settings.interval_ratio); !good) {
    return tl::unexpected(good.error());
  }
  const auto warm_up =
      ReadDuration(line.flags, "warm-up",
                   std::chrono::milliseconds(std::chrono::minutes(options.warm_up_minutes)).count(),
                   1min, kLongest);
  if (!warm_up) return tl::unexpected(warm_up.error());
  options.warm_up_minutes = *warm_up / 60'000;
  if (auto good = ReadOutput(line.flags, order); !good) return tl::unexpected(good.error());
  options.keep_forecasts = order.output == ForecastOutput::kHtml;
  return order;
}

}  // namespace tidemark::cmd
