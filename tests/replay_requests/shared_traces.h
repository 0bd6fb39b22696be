#pragma once
// The request traces that are kept beside the project: TIDEMARK_TRACES, else ../shared/traces.

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "cmd/replay_requests/trace.h"
#include "cmd/replay_requests/trace_files.h"
#include "tests/catch.h"

namespace tidemark::replay_requests {

inline std::string FolderOf(const char* variable, const std::string& otherwise) {
  const char* const folder = std::getenv(variable);
  return folder != nullptr && *folder != '\0' ? folder : otherwise;
}

/// Empty where the traces are not at hand.
inline std::vector<Trace> SharedTraces() {
  const std::string folder =
      FolderOf("TIDEMARK_TRACES", TIDEMARK_TEST_DATA "/../../../shared/traces") + "/requests";
  if (!std::filesystem::exists(folder)) {
    std::cout << "skipped: no traces in " << folder << "\n";
    return {};
  }
  auto traces = LoadTraces(folder);
  INFO((traces ? "" : traces.error().message));
  REQUIRE(traces);
  return *std::move(traces);
}

}  // namespace tidemark::replay_requests
