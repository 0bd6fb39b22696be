#pragma once
// Demand as a network sees it: changes from minute to minute, scaled by the smallest and the
// largest of the part that is learnt from, and back.
//
// For forecast/network*.cpp and tests only (xtensor). Not thread-safe.

#include <cstdint>
#include <span>
#include <vector>
#include <xtensor/xtensor.hpp>

#include "forecast/demand_history.h"
#include "forecast/network_options.h"
#include "model/result.h"

namespace tidemark::forecast {

/// Takes [smallest, largest] to [-1, 1].
struct MinMax {
  double middle = 0;
  double half_range = 1;  ///< above 0

  float Scale(double value) const { return static_cast<float>((value - middle) / half_range); }
  double Back(double scaled) const { return middle + half_range * scaled; }

  friend bool operator==(const MinMax&, const MinMax&) = default;
};

struct NetworkScaling {
  MinMax input;                 ///< of the change since the minute before
  std::vector<MinMax> outputs;  ///< of the change from now to each target
};

struct NetworkData {
  NetworkScaling scaling;
  xt::xtensor<float, 1> inputs;   ///< scaled change up to each minute; NaN where not known
  xt::xtensor<float, 2> targets;  ///< [minute][output]; NaN where not known
  /// Minutes ("now") of which the window before and all targets are known.
  std::vector<int32_t> training;
  std::vector<int32_t> validation;
};

/// Of the newest options.train_points minutes. `targets`: minutes ahead of each output, rising.
/// kInvalidArgument: less than two batches of windows are whole, or the demand does not move.
Result<NetworkData> PrepareData(const DemandSeries& history, const NetworkOptions& options,
                                std::span<const int32_t> targets);

}  // namespace tidemark::forecast
