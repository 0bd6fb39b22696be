// Kernels for AVX2 and FMA; forecast/CMakeLists.txt sets the flags of this file.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "forecast/kernels_sets.h"

namespace tidemark::forecast {
namespace {

constexpr size_t kWidth = 8;
#include "forecast/kernels_body.h"

}  // namespace

const Kernels& Avx2Kernels() {
  static const Kernels kernels = Table("avx2");
  return kernels;
}

}  // namespace tidemark::forecast
