#pragma once
// Small networks and the demand that tests train them on.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>

#include "forecast/network_forecaster.h"

namespace tidemark::forecast {

constexpr int64_t kFirstMinute = 20'000 * 1440LL;

inline NetworkOptions SmallNetwork() {
  NetworkOptions options;
  options.hidden = 8;
  options.look_back = 12;
  options.batch = 16;
  options.rate = 5e-3;
  options.max_iterations = 400;
  options.train_points = 0;
  options.stop_loss = 0;
  return options;
}

/// A wave of 40 minutes around 10.
inline DemandSeries Wave(size_t minutes, double noise = 0, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  DemandSeries series{.first = kFirstMinute, .values = {}};
  for (size_t t = 0; t < minutes; ++t) {
    const double angle = static_cast<double>(t) * 2 * std::numbers::pi / 40;
    const double jitter = noise * std::uniform_real_distribution<>(-1, 1)(random);
    series.values.push_back(static_cast<float>(10 + 5 * std::sin(angle) + jitter));
  }
  return series;
}

inline DemandHistory HistoryOf(const DemandSeries& series) {
  DemandHistory history;
  for (size_t t = 0; t < series.values.size(); ++t) {
    if (!std::isnan(series.values[t])) {
      history.Put(series.first + static_cast<int64_t>(t), double{series.values[t]});
    }
  }
  return history;
}

inline std::string Bytes(const Forecaster& forecaster) {
  std::string bytes;
  ByteWriter out(bytes);
  forecaster.Save(out);
  return bytes;
}

}  // namespace tidemark::forecast
