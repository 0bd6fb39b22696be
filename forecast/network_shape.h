#pragma once
// What a recurrent network is made of, and where each of its tensors lies in one flat run of
// weights.
//
// Of a direction there is one matrix of hidden + 3 rows and 4 * hidden columns (gates i, f, g, o,
// as PyTorch orders them): what multiplies the state before, the input, and two biases. So a step
// is one product, [state, x, 1, 1] times that matrix, its gradient is one too, and Adam, clipping
// and saving see nothing but a run of numbers. The two biases are PyTorch's: both get the same
// gradient, and together they learn twice as fast as one would.
//
// Plain values; thread-safe.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::forecast {

/// Which states the linear layer reads.
enum class Readout : uint8_t {
  kFinalStates = 0,  ///< of each direction the state after all of the window
  /// The output at the last step: the backward half of it has read one value only.
  kLastStep = 1,
};

struct NetworkShape {
  int32_t hidden = 100;         ///< of one direction
  int32_t outputs = 1;          ///< of the linear layer
  bool both_directions = true;  ///< a BiLSTM
  Readout readout = Readout::kFinalStates;

  int32_t directions() const { return both_directions ? 2 : 1; }
  int32_t gates() const { return 4 * hidden; }
  /// Of a direction's matrix: the state, the input, two biases.
  int32_t inputs() const { return hidden + 3; }
  /// Of the linear layer.
  int32_t features() const { return directions() * hidden; }

  size_t DirectionSize() const { return static_cast<size_t>(inputs()) * gates(); }
  size_t DirectionAt(int32_t direction) const { return direction * DirectionSize(); }
  /// `outputs` rows of `features`.
  size_t LinearAt() const { return DirectionAt(directions()); }
  size_t LinearBiasAt() const { return LinearAt() + static_cast<size_t>(outputs) * features(); }
  size_t WeightCount() const { return LinearBiasAt() + outputs; }

  friend bool operator==(const NetworkShape&, const NetworkShape&) = default;
};

/// One of PyTorch's tensors: element (r, c) is weights[at + r * row_stride + c * column_stride].
struct TensorPlace {
  size_t at = 0;
  int32_t rows = 0;
  int32_t columns = 0;
  size_t row_stride = 0;
  size_t column_stride = 0;
};

/// In PyTorch's order: weight_ih, weight_hh, bias_ih, bias_hh of the forward direction, the same of
/// the reverse one, weight and bias of the linear layer.
std::vector<TensorPlace> Tensors(const NetworkShape& shape);

/// Random weights as PyTorch draws them: evenly within 1/sqrt(hidden) for the recurrent part,
/// within 1/sqrt(features) for the linear one. The same seed gives the same weights. `weights` has
/// WeightCount().
template <class T>
void DrawWeights(const NetworkShape& shape, uint64_t seed, std::span<T> weights);

}  // namespace tidemark::forecast
