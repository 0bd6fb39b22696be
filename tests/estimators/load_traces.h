#pragma once
// Load traces: measured demand over days, by which estimates are judged.
//
// They lie in the folder that TIDEMARK_TRACES names, else beside the source tree in
// ../shared/traces; where there is none, tests that need them say so and pass.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::estimators {

struct LoadTrace {
  std::string file;
  std::string kind;  ///< the manifest's class: periodic, smooth or fluctuating
  int64_t step_seconds = 60;
  std::vector<int64_t> seconds;  ///< Unix time
  std::vector<double> values;    ///< as the file has them
  double pods_per_unit = 1;      ///< times a value: demand, in pods' worth
};

/// Absent when the folder has no such file. Throws, so that the test fails, when it is broken.
std::optional<LoadTrace> ReadTrace(const std::string& file);

/// All that the folder's manifest names; empty when there is no folder.
std::vector<LoadTrace> ReadTraces();

}  // namespace tidemark::estimators
