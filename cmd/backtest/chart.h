#pragma once
// Charts of one back-test: SVG without scripts, to stand inside of a page of HTML.

#include <string>

#include "cmd/backtest/run.h"

namespace tidemark::backtest {

/// The whole demand, as high as it got within each column. `demand.minutes` is not empty.
std::string HistoryChart(const Tested& one);

/// The last hours at one horizon: what came (class `truth`), what was forecast of it (`said`) and
/// the interval around that (`band`). Needs a report with kept forecasts.
std::string ForecastChart(const Tested& one, size_t horizon);

inline constexpr int64_t kChartHours = 6;

}  // namespace tidemark::backtest
