#pragma once
// One trace and policy, or a mean, as programs read it: named fields.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cmd/replay_policies/run.h"
#include "cmd/replay_policies/summary.h"

namespace tidemark::replay_policies {

/// Text, an amount that may be absent, or a count.
using FieldValue = std::variant<std::string, std::optional<double>, uint64_t>;
struct Field {
  std::string_view name;
  FieldValue value;
};
/// All records have the same fields in the same order.
using Record = std::vector<Field>;

Record PolicyRecord(const ReplayRun& run, const ReplayedTrace& trace, const Summary& summary,
                    size_t policy);
Record PerfectRecord(const ReplayedTrace& trace, const Summary& summary);
/// Of a class: trace `*`; of all: class `*` too. What is a count or an extreme is absent.
Record MeanRecord(const ReplayRun& run, const Summary& summary, size_t policy);
Record MeanPerfectRecord(const Summary& summary);

}  // namespace tidemark::replay_policies
