#pragma once
// One instant query of a Prometheus. For this library's .cpp files only.

#include <map>
#include <string>
#include <vector>

#include "cmd/doctor/asker.h"

namespace tidemark::doctor {

struct QueryReply {
  std::string trouble{};  ///< empty: it was answered
  /// Labels and value of each series; values that are no numbers are 0.
  std::vector<std::pair<std::map<std::string, std::string>, double>> series{};
};
QueryReply Query(Asker& prometheus, const std::string& expression);

}  // namespace tidemark::doctor
