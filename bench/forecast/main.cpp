// What forecasts cost: scripts/bench forecast.
#include <cstdio>
#include <string_view>

#include "bench/forecast/part.h"

namespace tidemark::bench {
namespace {

struct Part {
  const char* name;
  int (*run)(const PartOptions&);
};

constexpr Part kParts[] = {
    {"linear", RunLinear},
    {"networks", RunNetworks},
};

int Run(int argc, char** argv) {
  PartOptions options;
  int failed = 0;
  int known = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--quick") options.quick = true;
  }
  for (int i = 1; i < argc; ++i) {
    for (const Part& part : kParts) {
      if (std::string_view(argv[i]) != part.name) continue;
      ++known;
      failed |= part.run(options);
    }
  }
  if (known == 0) {
    std::fputs("usage: forecast_bench [--quick] PART ...\nparts:", stderr);
    for (const Part& part : kParts) std::fprintf(stderr, " %s", part.name);
    std::fputs("\n", stderr);
    return 2;
  }
  return failed;
}

}  // namespace

void Say(const char* system, const char* metric, double value) {
  std::printf("%s %s %.6g\n", system, metric, value);
  std::fflush(stdout);
}

}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Run(argc, argv); }
