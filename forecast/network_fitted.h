#pragma once
// What a fit leaves behind, and the buffers that it needs. For forecast/network*.cpp only.

#include <memory>
#include <vector>
#include <xtensor/xtensor.hpp>

#include "forecast/lstm.h"
#include "forecast/network_data.h"
#include "forecast/network_forecaster.h"

namespace tidemark::forecast {

struct NetworkForecaster::Fitted {
  NetworkScaling scaling;
  xt::xtensor<float, 1> weights;

  std::span<const float> Weights() const { return {weights.data(), weights.size()}; }
};

/// Buffers of the shape that was asked for last. Not thread-safe.
class LstmBuffers {
 public:
  LstmPass<float>& Of(const NetworkShape& shape, int32_t length, int32_t rows) {
    if (!pass_ || pass_->shape() != shape || pass_->length() != length ||
        pass_->most_rows() < rows) {
      pass_.reset();
      pass_ = std::make_unique<LstmPass<float>>(shape, length, rows);
    }
    return *pass_;
  }

 private:
  std::unique_ptr<LstmPass<float>> pass_;
};

}  // namespace tidemark::forecast
