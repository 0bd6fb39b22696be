#pragma once
// Which profile of a configuration applies to a workload, why, and what its rules are, for people;
// and which rules of the forecasts and of scaling.
//
// Free functions without state, thread-safe.

#include <map>
#include <optional>
#include <string>

#include "cmd/config.h"
#include "model/result.h"
#include "model/workload_id.h"

namespace tidemark::cmd {

/// A workload, and what is known of it.
struct ProfileQuestion {
  WorkloadId workload;
  std::optional<std::string> container;
  std::optional<std::string> pod_labels;  ///< canonical encoding (model/label.h)
};

/// From the flags `explain` (NAMESPACE/TYPE/NAME), `container`, `cluster` and `pod-labels`
/// (`{label_team="x"}`). nullopt: `explain` was not given. Errors are those of WrongFlag.
Result<std::optional<ProfileQuestion>> ProfileQuestionOf(
    const std::map<std::string, std::string, std::less<>>& flags);

/// Some lines of text. kInvalidArgument: which profile applies depends on the container, and none
/// is named.
Result<std::string> ExplainProfile(const Config& config, const ProfileQuestion& question);

}  // namespace tidemark::cmd
