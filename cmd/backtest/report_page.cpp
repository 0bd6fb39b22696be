#include "cmd/backtest/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "cmd/backtest/chart.h"
#include "cmd/backtest/report_text.h"
#include "cmd/replay_requests/chart.h"
#include "cmd/replay_requests/page_style.h"

namespace tidemark::backtest {
namespace {

using forecast::BacktestHorizon;
using forecast::BacktestScore;
using replay_requests::EscapeHtml;

constexpr std::string_view kStyle = R"css(
.truth { fill: none; stroke: var(--soft); stroke-width: 1.2; } .band { fill: var(--p0); fill-opacity: .18; }
.said { fill: none; stroke: var(--p0); stroke-width: 1.2; }
.kt { border-color: var(--soft); }
)css";

struct Cell {
  std::optional<double> error;
  std::optional<double> loss;
  std::string more;  ///< share of use, or coverage
};

std::string TableHead(const BacktestRun& run) {
  std::string head = R"(<div class="wide"><table><thead><tr><th class="name">model</th>)";
  for (const int32_t minutes : run.options.settings.horizons_minutes) {
    const std::string horizon = HorizonText(minutes);
    head += fmt::format("<th>{0}: error</th><th>loss</th><th>in use</th>", horizon);
  }
  return head + "</tr></thead><tbody>\n";
}

std::string Row(std::string_view name, const std::vector<Cell>& cells) {
  std::string row = fmt::format(R"(<tr><td class="name">{}</td>)", name);
  for (const Cell& cell : cells) {
    row += fmt::format("<td>{}</td><td>{}</td><td>{}</td>", RatioText(cell.error),
                       RatioText(cell.loss), cell.more);
  }
  return row + "</tr>\n";
}

std::string MeanSection(const BacktestRun& run) {
  const size_t horizons = run.options.settings.horizons_minutes.size();
  std::string html = fmt::format("<h2>Means over {} series</h2>\n", run.TestedCount());
  html += TableHead(run);
  for (const ForecastModel model : run.Models()) {
    std::vector<Cell> cells;
    for (size_t h = 0; h < horizons; ++h) {
      const MeanScore mean = run.Mean(h, model);
      cells.push_back({mean.error_ratio, mean.pinball_ratio, ShareText(mean.in_use_ratio)});
    }
    html += Row(ToString(model), cells);
  }
  std::vector<Cell> cells;
  for (size_t h = 0; h < horizons; ++h) {
    const MeanScore mean = run.Mean(h, std::nullopt);
    cells.push_back(
        {mean.error_ratio, mean.pinball_ratio, "interval held " + ShareText(mean.coverage_ratio)});
  }
  return html + Row("<b>chosen</b>", cells) + "</tbody></table></div>\n";
}

std::string SeriesTable(const BacktestRun& run, const forecast::BacktestReport& report) {
  std::string html = TableHead(run);
  for (size_t m = 0; m < report.horizons.front().models.size(); ++m) {
    std::vector<Cell> cells;
    for (const BacktestHorizon& at : report.horizons) {
      const BacktestScore& score = at.models[m];
      cells.push_back({score.error_ratio, score.pinball_ratio, ShareText(score.in_use_ratio)});
    }
    html += Row(ToString(report.horizons.front().models[m].model), cells);
  }
  std::vector<Cell> cells;
  for (const BacktestHorizon& at : report.horizons) {
    cells.push_back(
        {at.error_ratio, at.pinball_ratio, "interval held " + ShareText(at.coverage_ratio)});
  }
  return html + Row("<b>chosen</b>", cells) + "</tbody></table></div>\n";
}

std::string SeriesSection(const BacktestRun& run, const Tested& one, bool charts) {
  std::string html =
      fmt::format("<h3>{}{}</h3>\n", EscapeHtml(one.demand.name),
                  one.demand.kind.empty() ? "" : " &#183; " + EscapeHtml(one.demand.kind));
  if (!one.report) return html + fmt::format("<p>Not tested: {}.</p>\n", EscapeHtml(one.why));
  html += fmt::format("<p>{}.</p>\n", EscapeHtml(LengthText(one)));
  if (charts) {
    html += R"(<div class="charts">)";
    html +=
        fmt::format("<figure>{}<figcaption>the demand</figcaption></figure>\n", HistoryChart(one));
    for (size_t h = 0; h < one.report->horizons.size(); ++h) {
      html += fmt::format(
          "<figure>{}<figcaption>the last {} hours and what was said of them {} before"
          "</figcaption></figure>\n",
          ForecastChart(one, h), kChartHours, HorizonText(one.report->horizons[h].minutes));
    }
    html += "</div>\n";
  }
  html += SeriesTable(run, *one.report);
  if (one.report->now.horizons.empty()) {
    return html + fmt::format("<p>No forecast now: {}.</p>\n", EscapeHtml(one.report->now.why));
  }
  html += "<p>In use now:";
  for (const HorizonForecast& now : one.report->now.horizons) {
    html +=
        fmt::format(" {}: {};", HorizonText(now.horizon_seconds / 60), EscapeHtml(NowText(now)));
  }
  html.back() = '.';
  return html + "</p>\n";
}

}  // namespace

std::string ReportPage(const BacktestRun& run) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
      "<title>Tidemark: forecasts tested</title><style>";
  html.append(replay_requests::kPageStyle).append(kStyle);
  html += "</style></head><body>\n<h1>Forecasts tested</h1>\n";
  html += fmt::format(
      "<p>Each series went minute by minute through what the daemon does: forecasts were made "
      "from what was known, and held against what came. Error: mean absolute error; loss: pinball "
      "loss; both in units of the last value's, so below 1 is better than to take the present "
      "demand for the coming one. The first {} of each series are learnt from but not scored. "
      "Intervals are made to hold {:g} %.</p>\n",
      HorizonText(static_cast<int32_t>(run.options.warm_up_minutes)),
      100 * run.options.settings.interval_ratio);
  html += R"(<p><span class="key kt"></span>demand <span class="key k0"></span>forecast, with its )"
          "interval</p>\n";
  if (run.TestedCount() > 0) html += MeanSection(run);
  html += "<h2>Series</h2>\n";
  if (run.tested.size() > kMaxCharts) {
    html += fmt::format("<p>Charts of the first {} only.</p>\n", kMaxCharts);
  }
  for (size_t i = 0; i < run.tested.size(); ++i) {
    html += SeriesSection(run, run.tested[i], i < kMaxCharts);
  }
  return html + "</body></html>\n";
}

}  // namespace tidemark::backtest
