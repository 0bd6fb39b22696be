// Writes small saved namespaces into a folder: the corpus of fuzz_namespace_state. To be run anew
// when the format changes.

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/engine/namespace_world.h"

using namespace tidemark::testing;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_state_corpus FOLDER\n", stderr);
    return 2;
  }
  struct Wanted {
    const char* name;
    int batches;
    TrafficOptions traffic;
  };
  const Wanted all[] = {
      {"first_batch", 1, {.deployments = 1, .pods = 1}},
      {"waiting_pods", 6, {.deployments = 3, .pods = 2}},
      {"an_hour", 120, {.deployments = 2, .pods = 1, .silences = false}},
      {"other_owners", 300, {.deployments = 4, .pods = 1, .silences = false}},
      {"days", 2000, {.deployments = 3, .pods = 1}},
      {"slow_scrapes", 400, {.deployments = 2, .pods = 1, .step_ms = 120'000}},
  };
  uint32_t seed = 0;
  for (const Wanted& wanted : all) {
    NamespaceWorld world;
    world.Begin();
    RandomTraffic traffic(++seed, wanted.traffic);
    for (int i = 0; i < wanted.batches; ++i) world.Put(traffic.Next());
    std::ofstream file(std::string(argv[1]) + "/" + wanted.name, std::ios::binary);
    file << world.Saved();
    if (!file.flush()) {
      std::fprintf(stderr, "%s: cannot write there\n", argv[1]);
      return 1;
    }
  }
  return 0;
}
