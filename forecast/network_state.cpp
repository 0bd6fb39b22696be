// A fitted network as bytes. Version 1: what it is of (model, shape, window, what its outputs are),
// the scaling, the weights in single precision.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "forecast/network_fitted.h"
#include "forecast/network_forecaster.h"

namespace tidemark::forecast {
namespace {

constexpr uint8_t kVersion = 1;

void SaveScale(ByteWriter& out, const MinMax& scale) {
  out.Double(scale.middle);
  out.Double(scale.half_range);
}

MinMax RestoreScale(ByteReader& in) {
  const double middle = in.Double();
  const double half_range = in.Double();
  if (!std::isfinite(middle) || !std::isfinite(half_range) || half_range <= 0) in.Fail();
  return {middle, half_range};
}

}  // namespace

void NetworkForecaster::Save(ByteWriter& out) const {
  out.Byte(kVersion);
  out.Bool(IsFitted());
  if (!fitted_) return;
  out.Byte(static_cast<uint8_t>(model_));
  out.Varint(static_cast<uint64_t>(options_.hidden));
  out.Varint(static_cast<uint64_t>(options_.look_back));
  out.Byte(static_cast<uint8_t>(options_.readout));
  out.Bool(options_.recursive);
  const std::vector<int32_t> targets = Targets();
  out.Varint(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    out.Varint(static_cast<uint64_t>(targets[i]));
    SaveScale(out, fitted_->scaling.outputs[i]);
  }
  SaveScale(out, fitted_->scaling.input);
  out.Varint(fitted_->weights.size());
  for (const float weight : fitted_->weights) out.Fixed32(std::bit_cast<uint32_t>(weight));
}

Result<void> NetworkForecaster::Restore(ByteReader& in) {
  const auto refuse = [&](std::string why) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("saved weights of {}: {}", ToString(model_), std::move(why)));
  };
  if (const uint8_t version = in.Byte(); in.failed() || version != kVersion) {
    return refuse(fmt::format("version {} is not known, allowed: {}", version, kVersion));
  }
  if (!in.Bool()) {
    if (in.failed()) return refuse("they are damaged");
    fitted_.reset();
    return {};
  }
  const uint8_t model = in.Byte();
  const uint64_t hidden = in.Varint();
  const uint64_t look_back = in.Varint();
  const uint8_t readout = in.Byte();
  const bool recursive = in.Bool();
  const uint64_t outputs = in.Count(1 + 2 * sizeof(double));
  if (in.failed()) return refuse("they are damaged");
  if (model != static_cast<uint8_t>(model_) || recursive != options_.recursive ||
      hidden != static_cast<uint64_t>(options_.hidden) ||
      look_back != static_cast<uint64_t>(options_.look_back) ||
      readout != static_cast<uint8_t>(options_.readout)) {
    return refuse(
        fmt::format("they are of another network ({} units, {} minutes back)", hidden, look_back));
  }
  const std::vector<int32_t> targets = Targets();
  if (outputs != targets.size()) return refuse("they are of other horizons");
  auto fitted = std::make_unique<Fitted>();
  bool same = true;
  for (const int32_t target : targets) {
    same = in.Varint() == static_cast<uint64_t>(target) && same;
    fitted->scaling.outputs.push_back(RestoreScale(in));
  }
  fitted->scaling.input = RestoreScale(in);
  const uint64_t count = in.Count(sizeof(float));
  if (in.failed()) return refuse("they are damaged");
  if (!same) return refuse("they are of other horizons");
  if (count != Shape().WeightCount()) {
    return refuse(fmt::format("{} weights, wanted: {}", count, Shape().WeightCount()));
  }
  fitted->weights.resize({static_cast<size_t>(count)});
  for (float& weight : fitted->weights) {
    weight = std::bit_cast<float>(in.Fixed32());
    if (!std::isfinite(weight)) return refuse("a weight is not finite");
  }
  fitted_ = std::move(fitted);
  return {};
}

}  // namespace tidemark::forecast
