#pragma once
// The inner loops of networks in single precision, each built for several instruction sets; which
// one runs is found out once, by what the CPU can do.
//
// The project is built for x86-64-v2, where a vector has four numbers. What is here is built again
// for AVX2 and AVX-512 in files of their own (kernels_*.cpp), which hold nothing but functions of
// internal linkage over plain pointers: so no inline function of a library comes into two files
// built for different CPUs, where the linker would keep the wrong one.
//
// Activations are polynomials, never libm: exp by its Taylor polynomial of degree 7 around 0 after
// the power of two is split off, tanh by way of expm1, so that it is right near 0 too. Errors are
// below 1e-6 of the value (tests/forecast/kernels_test.cpp).
//
// Thread-safe. Results differ in the last bits from one instruction set to the other; of one they
// are always the same.

#include <cstddef>
#include <span>

namespace tidemark::forecast {

struct Kernels {
  const char* name;

  /// One step of an LSTM for `rows` samples. `gates` (rows x 4 * hidden; i, f, g, o): in the sums,
  /// out what the activations make of them. `state_before` (rows x hidden) -> `state`, its tanh,
  /// and `output` (rows of `output_stride`).
  void (*cell_forward)(size_t rows, size_t hidden, float* gates, const float* state_before,
                       float* state, float* tanh_state, float* output, size_t output_stride);
  /// The same step backwards. `gates`: in what cell_forward left, out the gradients of the sums.
  /// `output_gradient` (rows x hidden); `state_gradient` (rows x hidden): in of `state`, out of
  /// `state_before`.
  void (*cell_backward)(size_t rows, size_t hidden, float* gates, const float* state_before,
                        const float* tanh_state, const float* output_gradient,
                        float* state_gradient);
  /// y (columns) = x (rows) times w (rows x columns).
  void (*vector_times_matrix)(size_t rows, size_t columns, const float* x, const float* w,
                              float* y);
  double (*sum_of_squares)(size_t count, const float* values);
  /// One step of Adam: gradient * scale is taken in; `rate` and `epsilon` are corrected for the
  /// step already: w -= rate * m / (sqrt(v) + epsilon).
  void (*adam)(size_t count, float* weights, const float* gradient, float scale, float* m, float* v,
               float beta1, float beta2, float rate, float epsilon);
};

/// The best of those that run here.
const Kernels& BestKernels();
/// All that run here, the best first.
std::span<const Kernels* const> KernelsThatRun();

}  // namespace tidemark::forecast
