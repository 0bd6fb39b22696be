#include "cmd/backtest/chart.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <limits>
#include <vector>

#include "cmd/replay_requests/chart.h"

namespace tidemark::backtest {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 170;
constexpr double kTop = 8;
constexpr double kBottom = 18;  // the times stand there
constexpr size_t kColumns = 720;
constexpr int64_t kMinuteMs = 60'000;
constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

std::string DateText(int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)));
}

/// Amounts over evenly spaced places, all in one frame.
class Frame {
 public:
  Frame(std::string title, int64_t first_ms, int64_t last_ms, size_t places)
      : title_(std::move(title)), first_ms_(first_ms), last_ms_(last_ms), places_(places) {}

  void Raise(const std::vector<double>& amounts) {
    for (const double amount : amounts) {
      if (amount > most_) most_ = amount;
    }
  }

  /// Broken where nothing is known.
  std::string Line(std::string_view css, const std::vector<double>& amounts) const {
    std::string path;
    bool open = false;
    for (size_t i = 0; i < amounts.size(); ++i) {
      if (std::isnan(amounts[i])) {
        open = false;
        continue;
      }
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", open ? "L" : "M", XOf(i),
                     YOf(amounts[i]));
      open = true;
    }
    return path.empty() ? path : fmt::format(R"(<path class="{}" d="{}"/>)", css, path);
  }

  /// From below to above; one closed piece for each stretch that is known.
  std::string Band(std::string_view css, const std::vector<double>& below,
                   const std::vector<double>& above) const {
    std::string path;
    for (size_t i = 0; i < below.size();) {
      if (std::isnan(below[i]) || std::isnan(above[i])) {
        ++i;
        continue;
      }
      const size_t first = i;
      for (; i < below.size() && !std::isnan(below[i]) && !std::isnan(above[i]); ++i) {
        fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", i == first ? "M" : "L", XOf(i),
                       YOf(above[i]));
      }
      for (size_t back = i; back-- > first;) {
        fmt::format_to(std::back_inserter(path), "L{:.1f} {:.1f}", XOf(back), YOf(below[back]));
      }
      path += "Z";
    }
    return path.empty() ? path : fmt::format(R"(<path class="{}" d="{}"/>)", css, path);
  }

  std::string Svg(const std::string& parts) const {
    const std::string title = replay_requests::EscapeHtml(title_);
    std::string svg = fmt::format(
        R"(<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{}"><title>{}</title>{})", kWidth,
        kHeight, title, title, parts);
    svg += fmt::format(R"(<path class="axis" d="M0 {0:.1f}H{1:g}"/>)", YOf(0), kWidth);
    svg += fmt::format(R"(<text x="2" y="{:g}">{:.4g}</text>)", kTop + 10, most_);
    svg += fmt::format(R"(<text x="2" y="{0:g}">{1}</text><text x="{2:g}" y="{0:g}" )"
                       R"(text-anchor="end">{3}</text></svg>)",
                       kHeight - 4, DateText(first_ms_), kWidth - 2, DateText(last_ms_));
    return svg;
  }

 private:
  double XOf(size_t place) const {
    return places_ < 2 ? 0 : static_cast<double>(place) / static_cast<double>(places_ - 1) * kWidth;
  }
  double YOf(double amount) const {
    const double share = most_ > 0 ? amount / most_ : 0;
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }

  const std::string title_;
  const int64_t first_ms_;
  const int64_t last_ms_;
  const size_t places_;
  double most_ = 0;
};

}  // namespace

std::string HistoryChart(const Tested& one) {
  const Minutes& minutes = one.demand.minutes;
  const size_t size = minutes.values.size();
  std::vector<double> most(std::min(kColumns, size), kGap);
  for (size_t i = 0; i < size; ++i) {
    double& column = most[i * most.size() / size];
    const double value = minutes.values[i];
    if (!std::isnan(value) && !(value <= column)) column = value;
  }
  Frame frame("demand of " + one.demand.name, minutes.first * kMinuteMs,
              (minutes.end() - 1) * kMinuteMs, most.size());
  frame.Raise(most);
  return frame.Svg(frame.Line("truth", most));
}

std::string ForecastChart(const Tested& one, size_t horizon) {
  const Minutes& minutes = one.demand.minutes;
  const int64_t first = std::max(minutes.first, minutes.end() - kChartHours * 60);
  const auto places = static_cast<size_t>(minutes.end() - first);
  std::vector<double> truth(places, kGap);
  for (size_t i = 0; i < places; ++i) {
    truth[i] = minutes.At(first + static_cast<int64_t>(i));
  }
  std::vector<double> said(places, kGap);
  std::vector<double> below(places, kGap);
  std::vector<double> above(places, kGap);
  const forecast::BacktestHorizon& at = one.report->horizons[horizon];
  for (const ForecastPoint& point : at.forecasts) {
    const int64_t place = point.time_ms / kMinuteMs - first;
    if (place < 0 || place >= static_cast<int64_t>(places)) continue;
    const auto i = static_cast<size_t>(place);
    said[i] = double{point.demand};
    if (point.lower == point.upper) continue;  // there was no interval
    below[i] = std::max(0.0, double{point.lower});
    above[i] = double{point.upper};
  }
  Frame frame(fmt::format("forecasts of {}, made {} minutes before", one.demand.name, at.minutes),
              first * kMinuteMs, (minutes.end() - 1) * kMinuteMs, places);
  for (const auto* amounts : {&truth, &said, &above}) frame.Raise(*amounts);
  return frame.Svg(frame.Band("band", below, above) + frame.Line("truth", truth) +
                   frame.Line("said", said));
}

}  // namespace tidemark::backtest
