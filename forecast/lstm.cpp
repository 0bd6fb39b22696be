#include "forecast/lstm.h"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <xtensor/xtensor.hpp>

#include "forecast/kernels.h"
#include "forecast/products.h"

namespace tidemark::forecast {
namespace {

template <class T>
struct Maths;

template <>
struct Maths<float> {
  const Kernels& kernels = BestKernels();
  const Products& products = BestProducts();

  void CellForward(size_t rows, size_t hidden, float* gates, const float* state_before,
                   float* state, float* tanh_state, float* output, size_t stride) const {
    kernels.cell_forward(rows, hidden, gates, state_before, state, tanh_state, output, stride);
  }
  void CellBackward(size_t rows, size_t hidden, float* gates, const float* state_before,
                    const float* tanh_state, const float* output_gradient,
                    float* state_gradient) const {
    kernels.cell_backward(rows, hidden, gates, state_before, tanh_state, output_gradient,
                          state_gradient);
  }
  void Times(size_t m, size_t n, size_t k, const float* a, size_t a_stride, const float* b,
             size_t b_stride, float* c, size_t c_stride) const {
    products.times(m, n, k, a, a_stride, b, b_stride, c, c_stride);
  }
  void TimesTransposed(size_t m, size_t n, size_t k, const float* a, size_t a_stride,
                       const float* b, size_t b_stride, float* c, size_t c_stride) const {
    products.times_transposed(m, n, k, a, a_stride, b, b_stride, c, c_stride);
  }
  void TransposedTimes(size_t m, size_t n, size_t k, const float* a, size_t a_stride,
                       const float* b, size_t b_stride, float* c, size_t c_stride) const {
    products.transposed_times(m, n, k, a, a_stride, b, b_stride, c, c_stride);
  }
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// To the last bits, not fast.
template <>
struct Maths<double> {
  static void CellForward(size_t rows, size_t hidden, double* gates, const double* state_before,
                          double* state, double* tanh_state, double* output, size_t stride) {
    for (size_t row = 0; row < rows; ++row) {
      double* const gate = gates + row * 4 * hidden;
      for (size_t unit = 0; unit < hidden; ++unit) {
        const size_t at = row * hidden + unit;
        double& i = gate[unit];
        double& f = gate[hidden + unit];
        double& g = gate[2 * hidden + unit];
        double& o = gate[3 * hidden + unit];
        i = Sigmoid(i);
        f = Sigmoid(f);
        g = std::tanh(g);
        o = Sigmoid(o);
        state[at] = f * state_before[at] + i * g;
        tanh_state[at] = std::tanh(state[at]);
        output[row * stride + unit] = o * tanh_state[at];
      }
    }
  }
  static void CellBackward(size_t rows, size_t hidden, double* gates, const double* state_before,
                           const double* tanh_state, const double* output_gradient,
                           double* state_gradient) {
    for (size_t row = 0; row < rows; ++row) {
      double* const gate = gates + row * 4 * hidden;
      for (size_t unit = 0; unit < hidden; ++unit) {
        const size_t at = row * hidden + unit;
        double& i = gate[unit];
        double& f = gate[hidden + unit];
        double& g = gate[2 * hidden + unit];
        double& o = gate[3 * hidden + unit];
        const double h = output_gradient[at];
        const double c = state_gradient[at] + h * o * (1 - tanh_state[at] * tanh_state[at]);
        state_gradient[at] = c * f;
        const double i_before = i;
        i = c * g * i * (1 - i);
        f = c * state_before[at] * f * (1 - f);
        g = c * i_before * (1 - g * g);
        o = h * tanh_state[at] * o * (1 - o);
      }
    }
  }
  template <CBLAS_TRANSPOSE kA, CBLAS_TRANSPOSE kB>
  static void Gemm(size_t m, size_t n, size_t k, const double* a, size_t a_stride, const double* b,
                   size_t b_stride, double* c, size_t c_stride) {
    const auto whole = [](size_t size) { return static_cast<blasint>(size); };
    cblas_dgemm(CblasRowMajor, kA, kB, whole(m), whole(n), whole(k), 1, a, whole(a_stride), b,
                whole(b_stride), 0, c, whole(c_stride));
  }
  static constexpr auto Times = Gemm<CblasNoTrans, CblasNoTrans>;
  static constexpr auto TimesTransposed = Gemm<CblasNoTrans, CblasTrans>;
  static constexpr auto TransposedTimes = Gemm<CblasTrans, CblasNoTrans>;
};

}  // namespace

template <class T>
struct LstmPass<T>::Buffers {
  NetworkShape shape;
  size_t length;
  size_t most_rows;
  size_t rows = 0;  // of the last Forward; steps lie rows apart, without gaps
  Maths<T> maths;

  struct Direction {
    // [step][row][..]. What goes into a step: state, input, 1, 1; the last one is what came out of
    // all. Gates after Backward: their gradients.
    xt::xtensor<T, 3> in;
    xt::xtensor<T, 3> gates;
    xt::xtensor<T, 3> state;  // before each step, and after the last
    xt::xtensor<T, 3> tanh_state;
  };
  std::array<Direction, 2> directions;
  xt::xtensor<T, 2> predictions;
  xt::xtensor<T, 2> output_gradient;
  xt::xtensor<T, 2> state_gradient;
  // Of the linear layer's input, of all directions.
  xt::xtensor<T, 2> feature_gradient;

  size_t hidden() const { return static_cast<size_t>(shape.hidden); }
  size_t gates() const { return 4 * hidden(); }
  size_t inputs() const { return hidden() + 3; }
  size_t outputs() const { return static_cast<size_t>(shape.outputs); }
  size_t features() const { return static_cast<size_t>(shape.features()); }

  /// Whose output the linear layer does not read is not computed.
  size_t Steps(size_t direction) const {
    return direction == 1 && shape.readout == Readout::kLastStep ? 1 : length;
  }
  T* In(size_t direction, size_t step) {
    return directions[direction].in.data() + step * rows * inputs();
  }
  T* Gates(size_t direction, size_t step) {
    return directions[direction].gates.data() + step * rows * gates();
  }
  T* State(size_t direction, size_t step) {
    return directions[direction].state.data() + step * rows * hidden();
  }
  T* TanhState(size_t direction, size_t step) {
    return directions[direction].tanh_state.data() + step * rows * hidden();
  }
  /// What the linear layer reads of a direction, `inputs()` from row to row.
  const T* Feature(size_t direction) { return In(direction, Steps(direction)); }

  void RunForward(size_t direction, const T* weights, const T* windows);
  void RunBackward(size_t direction, const T* weights, T* gradient);
};

template <class T>
void LstmPass<T>::Buffers::RunForward(size_t direction, const T* weights, const T* windows) {
  const size_t steps = Steps(direction);
  std::fill_n(State(direction, 0), rows * hidden(), T{0});
  for (size_t step = 0; step < steps; ++step) {
    T* const in = In(direction, step);
    const size_t at = direction == 0 ? step : length - 1 - step;
    for (size_t row = 0; row < rows; ++row) {
      T* const line = in + row * inputs();
      if (step == 0) std::fill_n(line, hidden(), T{0});
      line[hidden()] = windows[row * length + at];
      line[hidden() + 1] = 1;
      line[hidden() + 2] = 1;
    }
    maths.Times(rows, gates(), inputs(), in, inputs(), weights, gates(), Gates(direction, step),
                gates());
    maths.CellForward(rows, hidden(), Gates(direction, step), State(direction, step),
                      State(direction, step + 1), TanhState(direction, step),
                      In(direction, step + 1), inputs());
  }
}

template <class T>
void LstmPass<T>::Buffers::RunBackward(size_t direction, const T* weights, T* gradient) {
  const size_t steps = Steps(direction);
  for (size_t row = 0; row < rows; ++row) {
    std::copy_n(feature_gradient.data() + row * features() + direction * hidden(), hidden(),
                output_gradient.data() + row * hidden());
  }
  std::fill_n(state_gradient.data(), rows * hidden(), T{0});
  for (size_t step = steps; step-- > 0;) {
    maths.CellBackward(rows, hidden(), Gates(direction, step), State(direction, step),
                       TanhState(direction, step), output_gradient.data(), state_gradient.data());
    if (step == 0) break;
    maths.TimesTransposed(rows, hidden(), gates(), Gates(direction, step), gates(), weights,
                          gates(), output_gradient.data(), hidden());
  }
  maths.TransposedTimes(inputs(), gates(), steps * rows, In(direction, 0), inputs(),
                        Gates(direction, 0), gates(), gradient, gates());
}

template <class T>
LstmPass<T>::LstmPass(const NetworkShape& shape, int32_t length, int32_t most_rows)
    : buffers_(std::make_unique<Buffers>()) {
  assert(length >= 1 && most_rows >= 1);
  Buffers& b = *buffers_;
  b.shape = shape;
  b.length = static_cast<size_t>(length);
  b.most_rows = static_cast<size_t>(most_rows);
  const auto rows = b.most_rows;
  for (size_t d = 0; d < static_cast<size_t>(shape.directions()); ++d) {
    auto& direction = b.directions[d];
    const size_t steps = b.Steps(d);
    direction.in.resize({steps + 1, rows, b.inputs()});
    direction.gates.resize({steps, rows, b.gates()});
    direction.state.resize({steps + 1, rows, b.hidden()});
    direction.tanh_state.resize({steps, rows, b.hidden()});
  }
  b.predictions.resize({rows, b.outputs()});
  b.output_gradient.resize({rows, b.hidden()});
  b.state_gradient.resize({rows, b.hidden()});
  b.feature_gradient.resize({rows, b.features()});
}

template <class T>
LstmPass<T>::~LstmPass() = default;

template <class T>
const NetworkShape& LstmPass<T>::shape() const {
  return buffers_->shape;
}

template <class T>
int32_t LstmPass<T>::length() const {
  return static_cast<int32_t>(buffers_->length);
}

template <class T>
int32_t LstmPass<T>::most_rows() const {
  return static_cast<int32_t>(buffers_->most_rows);
}

template <class T>
std::span<const T> LstmPass<T>::Forward(std::span<const T> weights, std::span<const T> windows) {
  Buffers& b = *buffers_;
  assert(weights.size() == b.shape.WeightCount());
  assert(!windows.empty() && windows.size() % b.length == 0 &&
         windows.size() <= b.most_rows * b.length);
  b.rows = windows.size() / b.length;
  const auto directions = static_cast<size_t>(b.shape.directions());
  for (size_t d = 0; d < directions; ++d) {
    b.RunForward(d, weights.data() + d * b.shape.DirectionSize(), windows.data());
  }
  const T* const bias = weights.data() + b.shape.LinearBiasAt();
  for (size_t row = 0; row < b.rows; ++row) {
    for (size_t o = 0; o < b.outputs(); ++o) {
      const T* linear = weights.data() + b.shape.LinearAt() + o * b.features();
      T sum = bias[o];
      for (size_t d = 0; d < directions; ++d) {
        const T* const feature = b.Feature(d) + row * b.inputs();
        for (size_t unit = 0; unit < b.hidden(); ++unit) sum += *linear++ * feature[unit];
      }
      b.predictions.data()[row * b.outputs() + o] = sum;
    }
  }
  return {b.predictions.data(), b.rows * b.outputs()};
}

template <class T>
double LstmPass<T>::Loss(std::span<const T> targets) const {
  const Buffers& b = *buffers_;
  assert(targets.size() == b.rows * b.outputs());
  double sum = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    const double error = double{b.predictions.data()[i]} - double{targets[i]};
    sum += error * error;
  }
  return sum / static_cast<double>(targets.size());
}

template <class T>
void LstmPass<T>::Backward(std::span<const T> weights, std::span<const T> targets,
                           std::span<T> gradient) {
  Buffers& b = *buffers_;
  assert(targets.size() == b.rows * b.outputs() && gradient.size() == weights.size());
  const auto directions = static_cast<size_t>(b.shape.directions());
  const T scale = T{2} / static_cast<T>(targets.size());
  T* const linear_gradient = gradient.data() + b.shape.LinearAt();
  T* const bias_gradient = gradient.data() + b.shape.LinearBiasAt();
  std::fill(linear_gradient, gradient.data() + gradient.size(), T{0});
  for (size_t row = 0; row < b.rows; ++row) {
    T* const feature_gradient = b.feature_gradient.data() + row * b.features();
    std::fill_n(feature_gradient, b.features(), T{0});
    for (size_t o = 0; o < b.outputs(); ++o) {
      const size_t at = row * b.outputs() + o;
      const T error = scale * (b.predictions.data()[at] - targets[at]);
      bias_gradient[o] += error;
      for (size_t d = 0; d < directions; ++d) {
        const size_t begin = d * b.hidden();
        const T* const feature = b.Feature(d) + row * b.inputs();
        const T* const linear = weights.data() + b.shape.LinearAt() + o * b.features() + begin;
        T* const line = linear_gradient + o * b.features() + begin;
        for (size_t unit = 0; unit < b.hidden(); ++unit) {
          line[unit] += error * feature[unit];
          feature_gradient[begin + unit] += error * linear[unit];
        }
      }
    }
  }
  for (size_t d = 0; d < directions; ++d) {
    const size_t at = d * b.shape.DirectionSize();
    b.RunBackward(d, weights.data() + at, gradient.data() + at);
  }
}

template <class T>
std::span<const T> LstmPass<T>::Output(int32_t direction, int32_t step, int32_t row) const {
  Buffers& b = *buffers_;
  assert(static_cast<size_t>(step) < b.Steps(static_cast<size_t>(direction)));
  return {b.In(static_cast<size_t>(direction), static_cast<size_t>(step) + 1) + row * b.inputs(),
          b.hidden()};
}

template <class T>
std::span<const T> LstmPass<T>::GateGradient(int32_t direction, int32_t step, int32_t row) const {
  Buffers& b = *buffers_;
  assert(static_cast<size_t>(step) < b.Steps(static_cast<size_t>(direction)));
  return {b.Gates(static_cast<size_t>(direction), static_cast<size_t>(step)) + row * b.gates(),
          b.gates()};
}

template class LstmPass<float>;
template class LstmPass<double>;

}  // namespace tidemark::forecast
