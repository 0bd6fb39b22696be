// Included once by each products_<set>.cpp, which is built for that set. Not a header of its own.
//
// Eigen is templates: the linker keeps one of equal names. Here its namespace is called otherwise
// in each file (TIDEMARK_EIGEN), so that no product built for AVX-512 can come to be used
// elsewhere.

#define Eigen TIDEMARK_EIGEN
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <cstddef>

#include "forecast/kernels_sets.h"

namespace tidemark::forecast {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using In = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
using Out = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

In Read(const float* from, size_t rows, size_t columns, size_t stride) {
  return {from, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns),
          Eigen::OuterStride<>(static_cast<Eigen::Index>(stride))};
}

Out Write(float* to, size_t rows, size_t columns, size_t stride) {
  return {to, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns),
          Eigen::OuterStride<>(static_cast<Eigen::Index>(stride))};
}

void Times(size_t m, size_t n, size_t k, const float* a, size_t a_stride, const float* b,
           size_t b_stride, float* c, size_t c_stride) {
  Write(c, m, n, c_stride).noalias() = Read(a, m, k, a_stride) * Read(b, k, n, b_stride);
}

void TimesTransposed(size_t m, size_t n, size_t k, const float* a, size_t a_stride, const float* b,
                     size_t b_stride, float* c, size_t c_stride) {
  Write(c, m, n, c_stride).noalias() =
      Read(a, m, k, a_stride) * Read(b, n, k, b_stride).transpose();
}

void TransposedTimes(size_t m, size_t n, size_t k, const float* a, size_t a_stride, const float* b,
                     size_t b_stride, float* c, size_t c_stride) {
  Write(c, m, n, c_stride).noalias() =
      Read(a, k, m, a_stride).transpose() * Read(b, k, n, b_stride);
}

Products Table(const char* name) { return {name, Times, TimesTransposed, TransposedTimes}; }

}  // namespace
}  // namespace tidemark::forecast
