// Eigen's products for AVX2 and FMA; forecast/CMakeLists.txt sets the flags of this file.
#define TIDEMARK_EIGEN eigen_avx2
#include "forecast/products_body.h"

namespace tidemark::forecast {

const Products& Avx2Eigen() {
  static const Products products = Table("eigen avx2");
  return products;
}

}  // namespace tidemark::forecast
