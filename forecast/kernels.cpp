#include "forecast/kernels.h"

#include <array>

#include "forecast/kernels_sets.h"

namespace tidemark::forecast {

int VectorWidth() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return 16;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 8;
#endif
  return 4;
}

std::span<const Kernels* const> KernelsThatRun() {
#if defined(__x86_64__)
  static const std::array all = {&Avx512Kernels(), &Avx2Kernels(), &PortableKernels()};
  const int width = VectorWidth();
  return std::span(all).subspan(width == 16 ? 0 : width == 8 ? 1 : 2);
#else
  static const std::array all = {&PortableKernels()};
  return all;
#endif
}

const Kernels& BestKernels() { return *KernelsThatRun().front(); }

}  // namespace tidemark::forecast
