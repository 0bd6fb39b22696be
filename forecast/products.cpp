#include "forecast/products.h"

#include <cblas.h>

#include <array>
#include <string_view>
#include <vector>

#include "forecast/kernels_sets.h"

namespace tidemark::forecast {
namespace {

template <CBLAS_TRANSPOSE kA, CBLAS_TRANSPOSE kB>
void BlasTimes(size_t m, size_t n, size_t k, const float* a, size_t a_stride, const float* b,
               size_t b_stride, float* c, size_t c_stride) {
  const auto whole = [](size_t size) { return static_cast<blasint>(size); };
  cblas_sgemm(CblasRowMajor, kA, kB, whole(m), whole(n), whole(k), 1, a, whole(a_stride), b,
              whole(b_stride), 0, c, whole(c_stride));
}

const Products& OpenBlas() {
  static const Products products = {"openblas", BlasTimes<CblasNoTrans, CblasNoTrans>,
                                    BlasTimes<CblasNoTrans, CblasTrans>,
                                    BlasTimes<CblasTrans, CblasNoTrans>};
  return products;
}

/// The vectors, in floats, of the kernels that OpenBLAS has chosen for itself.
int OpenBlasWidth() {
  const std::string_view core = openblas_get_corename();
  for (const std::string_view wide : {"SkylakeX", "Cooperlake", "SapphireRapids"}) {
    if (core == wide) return 16;
  }
  for (const std::string_view wide : {"Haswell", "Zen"}) {
    if (core == wide) return 8;
  }
  return 4;
}

}  // namespace

std::span<const Products* const> ProductsThatRun() {
  static const std::vector<const Products*> all = [] {
    std::vector<const Products*> found;
#if defined(__x86_64__)
    const int width = VectorWidth();
    if (OpenBlasWidth() >= width && width > 4) found.push_back(&OpenBlas());
    if (width >= 16) found.push_back(&Avx512Eigen());
    if (width >= 8) found.push_back(&Avx2Eigen());
#endif
    if (found.empty() || found.front() != &OpenBlas()) found.push_back(&OpenBlas());
    found.push_back(&PortableEigen());
    return found;
  }();
  return all;
}

const Products& BestProducts() { return *ProductsThatRun().front(); }

}  // namespace tidemark::forecast
