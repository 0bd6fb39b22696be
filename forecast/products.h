#pragma once
// Products of matrices in single precision, by OpenBLAS or by Eigen.
//
// Measured over the products of an LSTM of 100 units and 32 samples (scripts/bench forecast):
// OpenBLAS is a little faster where it knows the CPU. Debian 12's (0.3.21) falls back to kernels of
// SSE3 on CPUs that it does not know, new ones and many virtual ones among them, and is then three
// to five times as slow as Eigen built for AVX2 or AVX-512. So: OpenBLAS where its kernels are as
// wide as the CPU, else Eigen.
//
// Thread-safe. All matrices are row-major, their strides in elements.

#include <cstddef>
#include <span>

namespace tidemark::forecast {

struct Products {
  using Function = void (*)(size_t m, size_t n, size_t k, const float* a, size_t a_stride,
                            const float* b, size_t b_stride, float* c, size_t c_stride);
  const char* name;
  /// c (m x n) = a (m x k) b (k x n).
  Function times;
  /// c (m x n) = a (m x k) times the transpose of b (n x k).
  Function times_transposed;
  /// c (m x n) = the transpose of a (k x m) times b (k x n).
  Function transposed_times;
};

/// The one to use here; always the same in one process.
const Products& BestProducts();
/// All that run here, with what of OpenBLAS there is.
std::span<const Products* const> ProductsThatRun();

}  // namespace tidemark::forecast
