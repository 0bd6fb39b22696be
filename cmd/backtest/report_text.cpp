#include "cmd/backtest/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cmd/replay_requests/text_table.h"
#include "cmd/units.h"
#include "exporter/json_writer.h"

namespace tidemark::backtest {
namespace {

using exporter::JsonWriter;
using forecast::BacktestHorizon;
using forecast::BacktestScore;
using replay_requests::TextTable;

std::vector<std::string> Head(const std::vector<int32_t>& horizons) {
  std::vector<std::string> head{"model"};
  for (const int32_t minutes : horizons) {
    const std::string horizon = HorizonText(minutes);
    for (const std::string_view what : {"error", "loss", "used"}) {
      head.push_back(fmt::format("{} {}", horizon, what));
    }
  }
  return head;
}

void AppendScore(std::vector<std::string>& row, std::optional<double> error,
                 std::optional<double> loss, std::string used) {
  row.push_back(RatioText(error));
  row.push_back(RatioText(loss));
  row.push_back(std::move(used));
}

std::string CoverageLine(const BacktestRun& run, const std::vector<std::string>& coverages) {
  std::string line =
      fmt::format("  {:g} % intervals held:", 100 * run.options.settings.interval_ratio);
  for (size_t h = 0; h < coverages.size(); ++h) {
    line += fmt::format("{} {} {}", h == 0 ? "" : ",",
                        HorizonText(run.options.settings.horizons_minutes[h]), coverages[h]);
  }
  return line + '\n';
}

std::string Indented(const std::string& table) {
  std::string text = "  ";
  for (const char c : table) {
    text += c;
    if (c == '\n') text += "  ";
  }
  text.resize(text.size() - 2);
  return text;
}

std::string SeriesTable(const BacktestRun& run, const Tested& one) {
  std::string text = one.demand.name;
  if (!one.demand.kind.empty()) text += fmt::format(" ({})", one.demand.kind);
  if (!one.report) return text + fmt::format(": not tested: {}\n\n", one.why);
  text += fmt::format(": {}\n", LengthText(one));
  TextTable table(1);
  table.Add(Head(run.options.settings.horizons_minutes));
  const auto& horizons = one.report->horizons;
  for (size_t m = 0; m < horizons.front().models.size(); ++m) {
    std::vector<std::string> row{std::string(ToString(horizons.front().models[m].model))};
    for (const BacktestHorizon& at : horizons) {
      const BacktestScore& score = at.models[m];
      AppendScore(row, score.error_ratio, score.pinball_ratio, ShareText(score.in_use_ratio));
    }
    table.Add(std::move(row));
  }
  std::vector<std::string> row{"chosen"};
  std::vector<std::string> coverages;
  for (const BacktestHorizon& at : horizons) {
    AppendScore(row, at.error_ratio, at.pinball_ratio, "");
    coverages.push_back(ShareText(at.coverage_ratio));
  }
  table.Add(std::move(row));
  text += Indented(table.Text()) + CoverageLine(run, coverages);
  if (one.report->now.horizons.empty()) {
    text += fmt::format("  no forecast now: {}\n", one.report->now.why);
  }
  for (const HorizonForecast& now : one.report->now.horizons) {
    text +=
        fmt::format("  in use now, {}: {}\n", HorizonText(now.horizon_seconds / 60), NowText(now));
  }
  for (const auto& fits : one.report->fits) {
    if (fits.failures == 0) continue;
    text += fmt::format("  {} could not be fitted {} times of {}, last: {}\n", ToString(fits.model),
                        fits.failures, fits.failures + fits.fits, fits.failure);
  }
  return text + '\n';
}

std::string MeanTable(const BacktestRun& run) {
  const auto& horizons = run.options.settings.horizons_minutes;
  const size_t count = run.TestedCount();
  std::string text = fmt::format("mean over {} series\n", count);
  TextTable table(1);
  table.Add(Head(horizons));
  for (const ForecastModel model : run.Models()) {
    std::vector<std::string> row{std::string(ToString(model))};
    bool partly = false;
    for (size_t h = 0; h < horizons.size(); ++h) {
      const MeanScore mean = run.Mean(h, model);
      AppendScore(row, mean.error_ratio, mean.pinball_ratio, ShareText(mean.in_use_ratio));
      partly = partly || mean.series < count;
    }
    if (partly) row.front() += " *";
    table.Add(std::move(row));
  }
  std::vector<std::string> row{"chosen"};
  std::vector<std::string> coverages;
  bool partly = false;
  for (size_t h = 0; h < horizons.size(); ++h) {
    const MeanScore mean = run.Mean(h, std::nullopt);
    AppendScore(row, mean.error_ratio, mean.pinball_ratio, "");
    coverages.push_back(ShareText(mean.coverage_ratio));
    partly = partly || mean.series < count;
  }
  if (partly) row.front() += " *";
  table.Add(std::move(row));
  const std::string rows = table.Text();
  text += Indented(rows) + CoverageLine(run, coverages);
  if (rows.find(" *") != std::string::npos) {
    text += "  * of those series of which it could say anything\n";
  }
  return text;
}

void Optional(JsonWriter& out, std::string_view key, std::optional<double> value) {
  out.Key(key);
  out.Number(value.value_or(std::nan("")));
}

struct JsonScore {
  std::string_view trace;
  std::string_view kind;
  int32_t minutes = 0;
  std::string_view model;
  std::optional<double> error_ratio;
  std::optional<double> pinball_ratio;
};

void BeginScore(JsonWriter& out, const JsonScore& score) {
  out.BeginObject();
  out.Member("trace", score.trace);
  out.Member("class", score.kind);
  out.Key("horizon_seconds");
  out.Integer(score.minutes * 60);
  out.Member("model", score.model);
  Optional(out, "error_ratio", score.error_ratio);
  Optional(out, "pinball_ratio", score.pinball_ratio);
}

void Unsigned(JsonWriter& out, std::string_view key, uint64_t value) {
  out.Key(key);
  out.Unsigned(value);
}

void AppendSeries(JsonWriter& out, const Tested& one) {
  const forecast::BacktestReport& report = *one.report;
  for (size_t h = 0; h < report.horizons.size(); ++h) {
    const BacktestHorizon& at = report.horizons[h];
    for (const BacktestScore& score : at.models) {
      BeginScore(out, {one.demand.name, one.demand.kind, at.minutes, ToString(score.model),
                       score.error_ratio, score.pinball_ratio});
      Unsigned(out, "scored", score.scored);
      Optional(out, "in_use_ratio", score.in_use_ratio);
      out.EndObject();
    }
    BeginScore(out, {one.demand.name, one.demand.kind, at.minutes, "chosen", at.error_ratio,
                     at.pinball_ratio});
    Unsigned(out, "scored", at.scored);
    Optional(out, "coverage_ratio", at.coverage_ratio);
    Optional(out, "interval_width", at.interval_width);
    Optional(out, "last_value_error", at.last_value_error);
    Unsigned(out, "changes", at.changes);
    out.Key("step_seconds");
    out.Integer(one.demand.step_seconds);
    if (h < report.now.horizons.size()) {
      const HorizonForecast& now = report.now.horizons[h];
      out.Member("in_use_now", ToString(now.model));
      Optional(out, "forecast", now.demand);
      Optional(out, "lower", now.lower);
      Optional(out, "upper", now.upper);
    }
    out.EndObject();
  }
}

}  // namespace

std::string RatioText(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.3f}", *ratio) : "-";
}

std::string ShareText(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

std::string HorizonText(int32_t minutes) {
  return cmd::FormatDuration(std::chrono::minutes(minutes));
}

std::string LengthText(const Tested& one) {
  const uint64_t minutes = one.report ? one.report->minutes : 0;
  return one.demand.IsInterpolated()
             ? fmt::format(
                   "{} minutes, interpolated between steps of {} s, which flatters models "
                   "that go on straight",
                   minutes, one.demand.step_seconds)
             : fmt::format("{} minutes", minutes);
}

std::string NowText(const HorizonForecast& now) {
  std::string text = fmt::format("{}, expects {:.4g}", ToString(now.model), now.demand);
  if (now.lower && now.upper) text += fmt::format(" ({:.4g} to {:.4g})", *now.lower, *now.upper);
  return text;
}

std::string ReportTable(const BacktestRun& run) {
  std::string text = fmt::format(
      "error: mean absolute error; loss: pinball loss; both in units of the last "
      "value's.\nThe first {} of each series are learnt from but not scored.\n\n",
      HorizonText(static_cast<int32_t>(run.options.warm_up_minutes)));
  for (const Tested& one : run.tested) text += SeriesTable(run, one);
  return text + MeanTable(run);
}

std::string ReportJson(const BacktestRun& run) {
  JsonWriter out;
  out.BeginArray();
  for (const Tested& one : run.tested) {
    if (one.report) {
      AppendSeries(out, one);
      continue;
    }
    out.BeginObject();
    out.Member("trace", one.demand.name);
    out.Member("class", one.demand.kind);
    out.Member("why", one.why);
    out.EndObject();
  }
  const auto& horizons = run.options.settings.horizons_minutes;
  for (size_t h = 0; h < horizons.size(); ++h) {
    for (const ForecastModel model : run.Models()) {
      const MeanScore mean = run.Mean(h, model);
      BeginScore(out,
                 {"*", "", horizons[h], ToString(model), mean.error_ratio, mean.pinball_ratio});
      Unsigned(out, "series", mean.series);
      Optional(out, "in_use_ratio", mean.in_use_ratio);
      out.EndObject();
    }
    const MeanScore mean = run.Mean(h, std::nullopt);
    BeginScore(out, {"*", "", horizons[h], "chosen", mean.error_ratio, mean.pinball_ratio});
    Unsigned(out, "series", mean.series);
    Optional(out, "coverage_ratio", mean.coverage_ratio);
    out.EndObject();
  }
  out.EndArray();
  return out.Take() + '\n';
}

}  // namespace tidemark::backtest
