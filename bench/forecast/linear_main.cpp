// What the models without a network cost.
//
//   forecast_linear_bench [WORKLOADS]     default 1000
//
// Figures are for the numbers of workloads that their names say, whatever was measured.

#include <cstdlib>

#include "bench/forecast/linear_models.h"

int main(int argc, char** argv) {
  const long workloads = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000;
  if (workloads < 1 || workloads > 10'000) return 2;
  tidemark::bench::MeasureLinearModels(static_cast<size_t>(workloads));
  return 0;
}
