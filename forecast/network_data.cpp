#include "forecast/network_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tidemark::forecast {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// out(t) = values(t + ahead) - values(t), NaN where one of them is not known.
xt::xtensor<double, 1> Changes(const xt::xtensor<double, 1>& values, size_t behind, size_t ahead) {
  auto changes = xt::xtensor<double, 1>::from_shape({values.size()});
  changes.fill(kUnknown);
  for (size_t t = behind; t + ahead < values.size(); ++t) {
    changes(t) = values(t + ahead) - values(t - behind);
  }
  return changes;
}

/// Of the first `count`; nothing where they do not move.
std::optional<MinMax> ScaleOf(const xt::xtensor<double, 1>& changes, size_t count) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (size_t t = 0; t < std::min(count, changes.size()); ++t) {
    if (std::isnan(changes(t))) continue;
    least = std::min(least, changes(t));
    most = std::max(most, changes(t));
  }
  const MinMax scale{(least + most) / 2, (most - least) / 2};
  // Also of values that differ in their last bits only.
  if (!std::isfinite(scale.half_range) || !std::isnormal(static_cast<float>(scale.half_range)) ||
      scale.half_range <= 0) {
    return std::nullopt;
  }
  return scale;
}

}  // namespace

Result<NetworkData> PrepareData(const DemandSeries& history, const NetworkOptions& options,
                                std::span<const int32_t> targets) {
  const size_t known = history.values.size();
  const size_t count =
      options.train_points > 0 ? std::min(known, static_cast<size_t>(options.train_points)) : known;
  auto values = xt::xtensor<double, 1>::from_shape({count});
  for (size_t t = 0; t < count; ++t) values(t) = double{history.values[known - count + t]};

  const auto held_back =
      static_cast<size_t>(std::round(static_cast<double>(count) * options.validation_ratio));
  const size_t split = count - held_back;
  const auto longest = static_cast<size_t>(targets.back());
  const auto look_back = static_cast<size_t>(options.look_back);

  NetworkData data;
  std::vector<xt::xtensor<double, 1>> changes;
  for (const int32_t ahead : targets) {
    changes.push_back(Changes(values, 0, static_cast<size_t>(ahead)));
  }
  // "Now" where a window is whole: so many changes known up to it, and every target.
  size_t run = 0;
  for (size_t t = 0; t < count; ++t) {
    run = std::isnan(values(t)) ? 0 : run + 1;
    if (run < look_back + 1 || t + longest >= count) continue;
    if (std::ranges::any_of(changes, [&](const auto& c) { return std::isnan(c(t)); })) continue;
    if (t + longest < split) {
      data.training.push_back(static_cast<int32_t>(t));
    } else if (t + 1 >= split) {
      data.validation.push_back(static_cast<int32_t>(t));
    }
  }
  const auto least = static_cast<size_t>(options.batch) * 2;
  if (data.training.size() < least) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the demand of the last {} minutes has {} windows of {} minutes "
                            "without a gap to learn from, wanted: {} or more",
                            count, data.training.size(), look_back + 1, least));
  }

  const xt::xtensor<double, 1> steps = Changes(values, 1, 0);
  const auto input = ScaleOf(steps, split);
  if (!input) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the demand of the last {} minutes does not move", count));
  }
  data.scaling.input = *input;
  data.inputs.resize({count});
  data.targets.resize({count, targets.size()});
  for (size_t t = 0; t < count; ++t) data.inputs(t) = input->Scale(steps(t));
  for (size_t o = 0; o < targets.size(); ++o) {
    const auto scale = ScaleOf(changes[o], split - static_cast<size_t>(targets[o]));
    if (!scale) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the demand of the last {} minutes is the same every {} minutes",
                              count, targets[o]));
    }
    data.scaling.outputs.push_back(*scale);
    for (size_t t = 0; t < count; ++t) data.targets(t, o) = scale->Scale(changes[o](t));
  }
  return data;
}

}  // namespace tidemark::forecast
