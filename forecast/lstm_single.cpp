#include "forecast/lstm_single.h"

#include <algorithm>
#include <cassert>
#include <xtensor/xtensor.hpp>

#include "forecast/kernels.h"

namespace tidemark::forecast {

void ForwardSingle(const NetworkShape& shape, std::span<const float> weights,
                   std::span<const float> window, std::span<float> out) {
  assert(weights.size() == shape.WeightCount() && !window.empty() &&
         out.size() == static_cast<size_t>(shape.outputs));
  const Kernels& kernels = BestKernels();
  const auto hidden = static_cast<size_t>(shape.hidden);
  const auto features = static_cast<size_t>(shape.features());
  auto in = xt::xtensor<float, 1>::from_shape({hidden + 3});
  auto gates = xt::xtensor<float, 1>::from_shape({4 * hidden});
  auto state = xt::xtensor<float, 1>::from_shape({hidden});
  auto tanh_state = xt::xtensor<float, 1>::from_shape({hidden});
  std::copy_n(weights.data() + shape.LinearBiasAt(), out.size(), out.data());
  for (int32_t direction = 0; direction < shape.directions(); ++direction) {
    in.fill(0);
    in(hidden + 1) = 1;
    in(hidden + 2) = 1;
    state.fill(0);
    const bool short_run = direction == 1 && shape.readout == Readout::kLastStep;
    const size_t steps = short_run ? 1 : window.size();
    for (size_t step = 0; step < steps; ++step) {
      in(hidden) = window[direction == 0 ? step : window.size() - 1 - step];
      kernels.vector_times_matrix(hidden + 3, 4 * hidden, in.data(),
                                  weights.data() + shape.DirectionAt(direction), gates.data());
      kernels.cell_forward(1, hidden, gates.data(), state.data(), state.data(), tanh_state.data(),
                           in.data(), hidden + 3);
    }
    for (size_t o = 0; o < out.size(); ++o) {
      const float* const linear = weights.data() + shape.LinearAt() + o * features +
                                  static_cast<size_t>(direction) * hidden;
      for (size_t unit = 0; unit < hidden; ++unit) out[o] += linear[unit] * in(unit);
    }
  }
}

}  // namespace tidemark::forecast
