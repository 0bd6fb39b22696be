#pragma once
// What saved models have in common: which model and which horizons they are of, and weights.

#include <string_view>
#include <vector>

#include "forecast/forecaster.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::forecast {

/// Format version, model, horizons.
void SaveModelHead(ForecastModel model, const Horizons& horizons, uint8_t format, ByteWriter& out);
/// kInvalidArgument: it is not of this format, model and horizons.
Result<void> ReadModelHead(ForecastModel model, const Horizons& horizons, uint8_t format,
                           ByteReader& in);
/// "saved ridge_30: " and what is wrong.
tl::unexpected<Error> WrongModel(ForecastModel model, std::string_view what);

void SaveWeights(const std::vector<float>& weights, ByteWriter& out);
/// Fails the reader where they are not `count`, or none, finite numbers.
std::vector<float> ReadWeights(size_t count, ByteReader& in);

}  // namespace tidemark::forecast
