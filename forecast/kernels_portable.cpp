// Kernels for whatever the project is built for; forecast/CMakeLists.txt sets the flags of this
// file.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "forecast/kernels_sets.h"

namespace tidemark::forecast {
namespace {

constexpr size_t kWidth = 4;
#include "forecast/kernels_body.h"

}  // namespace

const Kernels& PortableKernels() {
  static const Kernels kernels = Table("portable");
  return kernels;
}

}  // namespace tidemark::forecast
