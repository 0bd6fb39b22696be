#pragma once
// A run of back-tests as one page of HTML that needs nothing else: no request, no script.

#include <string>

#include "cmd/backtest/run.h"

namespace tidemark::backtest {

/// Means, then of each series its demand, what was forecast of its last hours at each horizon, and
/// the table of models. Of more than kMaxCharts series only the first have charts, which the page
/// says. Names are escaped. UTF-8; also well-formed XML but for its first line.
std::string ReportPage(const BacktestRun& run);
inline constexpr size_t kMaxCharts = 100;

}  // namespace tidemark::backtest
