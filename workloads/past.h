#pragma once
// What a past brings to a namespace: the history of one container of one workload.

#include <cstdint>
#include <string_view>

#include "model/resource_slots.h"
#include "workloads/usage.h"

namespace tidemark::workloads {

struct PastContainer {
  std::string_view workload_type;
  std::string_view workload;
  std::string_view container;
  struct Minutes {
    int64_t from_ms = kNever;   ///< start of the first minute; kNever: there is none
    int64_t until_ms = kNever;  ///< end of the last
    uint64_t count = 0;

    friend bool operator==(const Minutes&, const Minutes&) = default;
  };
  ResourceSlots<Minutes> minutes;
  std::string_view history;  ///< UsageSink::SaveContainer
};

}  // namespace tidemark::workloads
