// Kernels for AVX-512; forecast/CMakeLists.txt sets the flags of this file.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "forecast/kernels_sets.h"

namespace tidemark::forecast {
namespace {

constexpr size_t kWidth = 16;
#include "forecast/kernels_body.h"

}  // namespace

const Kernels& Avx512Kernels() {
  static const Kernels kernels = Table("avx512");
  return kernels;
}

}  // namespace tidemark::forecast
