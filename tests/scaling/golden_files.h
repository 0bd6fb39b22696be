#pragma once
// Reference data of the replica decision: replica_decision.json and replay_baseline.json of the
// folder forecast/ in TIDEMARK_GOLDEN, else tests/data/golden. Ratios, exact doubles.

#include <boost/json/value.hpp>
#include <cstdlib>
#include <string>

#include "tests/estimators/json_file.h"

namespace tidemark::scaling {

inline boost::json::value ReadGolden(const std::string& name) {
  const char* const folder = std::getenv("TIDEMARK_GOLDEN");  // NOLINT(concurrency-mt-unsafe)
  const std::string root =
      folder != nullptr && *folder != '\0' ? folder : TIDEMARK_TEST_DATA "/golden";
  return estimators::ReadJsonFile(root + "/forecast/" + name);
}

}  // namespace tidemark::scaling
