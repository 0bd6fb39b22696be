#pragma once
// What the hours of a workload's memory look like: a leak, a heap that is collected, use that lies
// at the limit.
//
// A pure function of the largest samples of the hours of the last eight days, those of all pods
// together: what is told apart is what all pods do alike, or the one that there is. Teeth shorter
// than an hour do not show in it. What is told is a remark beside a recommendation and changes
// none.
//
// Leak: use climbs for at least a day, to at least 1.5 times where it began, without ever falling
// back by more than 3 %, and in every quarter of that time by at least a tenth of the whole: what
// fills a cache flattens, what grows with a day's load falls back. It then drops at once below 60 %
// (a restart), or goes on; where no restart was seen the climb must be of two days.
// Saw-tooth: in the last three days there were at least six drops of 20 % or more from one hour to
// the next. The hours before them are alike (four of five within 10 % of their median), so are the
// lowest after them (within 25 %); the time between them is at most 12 hours, and of the hours
// between four of five do not fall back: memory is given back again and again by the process
// itself, and the tops are the collector's choice, not a need. At the limit: of the last two days'
// hours, at least 24, nine of ten lie within 3 % of the limit.

#include <cstdint>
#include <optional>
#include <string_view>

#include "estimators/level_ring.h"

namespace tidemark::estimators {

enum class MemoryShape : uint8_t { kNothingSpecial, kLeak, kSawTooth, kAtLimit };

struct MemoryShapeFound {
  MemoryShape shape = MemoryShape::kNothingSpecial;
  double from = 0;    ///< leak: where the climb began; saw-tooth: the usual low; bytes
  double to = 0;      ///< leak: where it ended; saw-tooth: the usual top; at limit: the median
  int32_t hours = 0;  ///< leak: of the climb; saw-tooth: from drop to drop, usually
  int32_t times = 0;  ///< leak: restarts that ended one; saw-tooth: drops in three days
  double bytes_an_hour = 0;  ///< leak: how fast it climbs
};

/// `limit_bytes`: of one pod's container, where it is known; amounts of 0 or less are none. O(192).
MemoryShapeFound FindMemoryShape(const HourRing& hours, std::optional<double> limit_bytes);

/// For people: "grows steadily between restarts: a leak?", "saw-tooth: heap that is collected",
/// "at the limit, and stays there"; empty for nothing special.
std::string_view ToString(MemoryShape shape);

}  // namespace tidemark::estimators
