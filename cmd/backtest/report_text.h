#pragma once
// A run of back-tests as text: a table for people, JSON for programs. Pure functions;
// docs/forecast-tool.md describes both.

#include <optional>
#include <string>

#include "cmd/backtest/run.h"

namespace tidemark::backtest {

std::string ReportTable(const BacktestRun& run);

/// A list of objects, one for each series, horizon and model, then one for what was in use (model
/// "chosen"); means over all series last, with the trace "*". Ended by a line feed.
std::string ReportJson(const BacktestRun& run);

// Shared with the page.

/// "0.864"; "-" when it is absent.
std::string RatioText(std::optional<double> ratio);
/// "93.1 %"; "-" when it is absent.
std::string ShareText(std::optional<double> share);
/// "3m".
std::string HorizonText(int32_t minutes);
/// "7200 minutes", "20248 minutes, of which those between steps of 300 s are interpolated".
std::string LengthText(const Tested& one);
/// Of a horizon: "ridge_60, expects 12.31 (10.02 to 14.7)".
std::string NowText(const HorizonForecast& now);

}  // namespace tidemark::backtest
