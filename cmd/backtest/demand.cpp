#include "cmd/backtest/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tidemark::backtest {
namespace {

constexpr int64_t kMinute = 60;
constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

void TakeMeans(std::span<const TimedValue> values, Minutes& minutes) {
  for (size_t i = 0; i < values.size();) {
    const int64_t minute = values[i].seconds / kMinute;
    double sum = 0;
    int64_t count = 0;
    for (; i < values.size() && values[i].seconds / kMinute == minute; ++i, ++count) {
      sum += values[i].value;
    }
    minutes.values[static_cast<size_t>(minute - minutes.first)] = sum / static_cast<double>(count);
  }
}

void DrawLines(std::span<const TimedValue> values, int64_t step, Minutes& minutes) {
  const auto put = [&](int64_t minute, double value) {
    const int64_t at = minute - minutes.first;
    if (at >= 0 && at < static_cast<int64_t>(minutes.values.size())) {
      minutes.values[static_cast<size_t>(at)] = value;
    }
  };
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    const TimedValue& from = values[i];
    const TimedValue& to = values[i + 1];
    const int64_t apart = to.seconds - from.seconds;
    if (2 * apart > 3 * step) continue;
    for (int64_t minute = (from.seconds + kMinute - 1) / kMinute; minute * kMinute <= to.seconds;
         ++minute) {
      const double part =
          static_cast<double>(minute * kMinute - from.seconds) / static_cast<double>(apart);
      put(minute, from.value + part * (to.value - from.value));
    }
  }
  for (const TimedValue& value : values) {  // also those that stand alone
    if (value.seconds % kMinute == 0) put(value.seconds / kMinute, value.value);
  }
}

}  // namespace

double Minutes::At(int64_t minute) const {
  return minute < first || minute >= end() ? kGap : values[static_cast<size_t>(minute - first)];
}

forecast::DemandSeries Demand::Series() const {
  forecast::DemandSeries series;
  series.first = minutes.first;
  series.values.reserve(minutes.values.size());
  for (const double value : minutes.values) series.values.push_back(static_cast<float>(value));
  return series;
}

Result<void> SetMinutes(std::span<const TimedValue> values, Demand& demand) {
  if (values.size() < 2) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} values, allowed: at least 2", values.size()));
  }
  // The least that is usual: a stray value between two others does not make the rest gaps.
  std::vector<int64_t> distances;
  distances.reserve(values.size() - 1);
  for (size_t i = 1; i < values.size(); ++i) {
    distances.push_back(values[i].seconds - values[i - 1].seconds);
  }
  const auto usual = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 20);
  std::nth_element(distances.begin(), usual, distances.end());
  const int64_t step = *usual;
  if (step < kMinDemandStep || step > kMaxDemandStep) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("steps of {} s, allowed: {} s to {} s",
                                                         step, kMinDemandStep, kMaxDemandStep));
  }
  const int64_t first = values.front().seconds / kMinute;
  const int64_t count = values.back().seconds / kMinute - first + 1;
  if (count > kMaxDemandMinutes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} days, allowed: {}", count / 1440, kMaxDemandMinutes / 1440));
  }
  demand.step_seconds = step;
  demand.minutes.first = first;
  demand.minutes.values.assign(static_cast<size_t>(count), kGap);
  if (step <= kMinute) {
    TakeMeans(values, demand.minutes);
  } else {
    DrawLines(values, step, demand.minutes);
  }
  return {};
}

}  // namespace tidemark::backtest
