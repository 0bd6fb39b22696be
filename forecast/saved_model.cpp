#include "forecast/saved_model.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace tidemark::forecast {

void SaveModelHead(ForecastModel model, const Horizons& horizons, uint8_t format, ByteWriter& out) {
  out.Byte(format);
  out.Byte(static_cast<uint8_t>(model));
  out.Byte(static_cast<uint8_t>(horizons.size()));
  for (size_t h = 0; h < horizons.size(); ++h) out.Varint(static_cast<uint64_t>(horizons[h]));
}

Result<void> ReadModelHead(ForecastModel model, const Horizons& horizons, uint8_t format,
                           ByteReader& in) {
  const uint8_t its_format = in.Byte();
  if (in.failed()) return WrongModel(model, "there is nothing");
  if (its_format != format) return WrongModel(model, "it is of another format");
  if (in.Byte() != static_cast<uint8_t>(model)) return WrongModel(model, "it is another model");
  bool same = in.Byte() == horizons.size();
  for (size_t h = 0; same && h < horizons.size(); ++h) {
    same = in.Varint() == static_cast<uint64_t>(horizons[h]);
  }
  if (!same) return WrongModel(model, "it is of other horizons");
  return {};
}

tl::unexpected<Error> WrongModel(ForecastModel model, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("saved {}: {}", ToString(model), what));
}

void SaveWeights(const std::vector<float>& weights, ByteWriter& out) {
  out.Varint(weights.size());
  for (const float weight : weights) out.Fixed32(std::bit_cast<uint32_t>(weight));
}

std::vector<float> ReadWeights(size_t count, ByteReader& in) {
  const uint64_t saved = in.Count(sizeof(float));
  if (saved != 0 && saved != count) in.Fail();
  if (in.failed()) return {};
  std::vector<float> weights(saved);
  for (float& weight : weights) {
    weight = std::bit_cast<float>(in.Fixed32());
    if (!std::isfinite(weight)) in.Fail();
  }
  return weights;
}

}  // namespace tidemark::forecast
