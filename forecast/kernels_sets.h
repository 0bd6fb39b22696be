#pragma once
// The instruction sets for which kernels are built. Only for kernels*.cpp and products*.cpp.

#include "forecast/kernels.h"
#include "forecast/products.h"

namespace tidemark::forecast {

const Kernels& PortableKernels();
const Products& PortableEigen();
#if defined(__x86_64__)
const Kernels& Avx2Kernels();
const Kernels& Avx512Kernels();
const Products& Avx2Eigen();
const Products& Avx512Eigen();
#endif

/// How wide the vectors of this CPU are, in floats: 4, 8 (AVX2 with FMA) or 16 (AVX-512).
int VectorWidth();

}  // namespace tidemark::forecast
