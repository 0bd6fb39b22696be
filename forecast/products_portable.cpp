// Eigen's products for whatever the project is built for; forecast/CMakeLists.txt sets the flags of
// this file.
#define TIDEMARK_EIGEN eigen_portable
#include "forecast/products_body.h"

namespace tidemark::forecast {

const Products& PortableEigen() {
  static const Products products = Table("eigen portable");
  return products;
}

}  // namespace tidemark::forecast
