// Eigen's products for AVX-512; forecast/CMakeLists.txt sets the flags of this file.
#define TIDEMARK_EIGEN eigen_avx512
#include "forecast/products_body.h"

namespace tidemark::forecast {

const Products& Avx512Eigen() {
  static const Products products = Table("eigen avx512");
  return products;
}

}  // namespace tidemark::forecast
