#pragma once
// Forward and backward passes of an LSTM or BiLSTM with a linear layer, over many windows at once.
//
// One value a step goes in; loss is the mean squared error over samples and outputs. As PyTorch
// computes it: Hochreiter, Schmidhuber 1997 with forget gates; gradients by backpropagation through
// the whole window. A step is one product of matrices for all samples, the gradient of the weights
// is one over all steps (network_shape.h says how they lie).
//
// T = float is what the daemon runs (kernels.h, products.h); T = double is the same algorithm with
// libm and OpenBLAS, for checking it. Buffers are made once, about 6 kB for each sample and step of
// the window at 100 units in both directions. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "forecast/network_shape.h"

namespace tidemark::forecast {

template <class T>
class LstmPass {
 public:
  /// For windows of `length` values, at most `most_rows` at once; both at least 1.
  LstmPass(const NetworkShape& shape, int32_t length, int32_t most_rows);
  ~LstmPass();
  LstmPass(const LstmPass&) = delete;
  LstmPass& operator=(const LstmPass&) = delete;

  const NetworkShape& shape() const;
  int32_t length() const;
  int32_t most_rows() const;

  /// `windows`: rows x length, oldest value first, at least one row. The answer, rows x outputs,
  /// holds until the next call. `weights` has the shape's WeightCount(), also below.
  std::span<const T> Forward(std::span<const T> weights, std::span<const T> windows);
  /// Of what Forward said; `targets`: rows x outputs.
  double Loss(std::span<const T> targets) const;
  /// After Forward with the same weights, once: `gradient` of the loss, WeightCount() numbers, all
  /// are written.
  void Backward(std::span<const T> weights, std::span<const T> targets, std::span<T> gradient);

  /// What a direction said at its `step`-th step (the reverse one begins at the newest value), of
  /// one row: `hidden` numbers; after Forward.
  std::span<const T> Output(int32_t direction, int32_t step, int32_t row) const;
  /// Gradients of the sums of the gates there, 4 * hidden numbers; after Backward.
  std::span<const T> GateGradient(int32_t direction, int32_t step, int32_t row) const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

extern template class LstmPass<float>;
extern template class LstmPass<double>;

}  // namespace tidemark::forecast
