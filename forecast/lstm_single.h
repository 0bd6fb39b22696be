#pragma once
// One window through an LSTM or BiLSTM: what a forecast costs. A product of a matrix and a vector
// is bound by reading the weights, which lie in the order in which they are read here.

#include <span>

#include "forecast/network_shape.h"

namespace tidemark::forecast {

/// `window`: oldest value first, not empty; `out` has the shape's outputs. The same as LstmPass
/// says but for the last bits. Thread-safe.
void ForwardSingle(const NetworkShape& shape, std::span<const float> weights,
                   std::span<const float> window, std::span<float> out);

}  // namespace tidemark::forecast
