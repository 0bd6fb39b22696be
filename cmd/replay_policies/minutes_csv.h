#pragma once
// Every minute of a replay as CSV: what each policy saw, decided and why.

#include <ostream>
#include <string_view>

#include "cmd/replay_policies/run.h"

namespace tidemark::replay_policies {

/// Ended by a line feed, as the rows are.
inline constexpr std::string_view kMinutesHead =
    "trace,unix_seconds,demand,policy,replicas,ready,target,recommended,reason,mode,forecast,"
    "forecast_lower,forecast_upper,is_measured\n";

/// Rows of one trace, by minute and then by policy. `forecast` is the demand that the policy
/// planned for, `forecast_lower` and `forecast_upper` hold nine tenths of what comes at the lead;
/// in the demand's unit, empty where there are none.
void WriteMinuteRows(const TraceMinutes& minutes, std::ostream& out);

}  // namespace tidemark::replay_policies
