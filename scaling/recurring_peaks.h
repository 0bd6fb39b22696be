#pragma once
// Demand that came at the same time of day before: jobs by the clock, opening hours, backups.
//
// What came at this time one to seven days ago, moved by how much higher or lower the demand is now
// than it was then, is looked at minute by minute. How often such a thing came again is counted,
// apart by on how many days it was there: one of two days ago means little, one of each of the last
// four much, and how much is the workload's own record. Nothing is taken on trust: before anything
// is known the chance is kFirstChance.
//
// A value type; not thread-safe. 48 bytes.

#include <array>
#include <cstddef>
#include <cstdint>

#include "forecast/demand_history.h"
#include "model/byte_codec.h"
#include "scaling/lead_demand.h"

namespace tidemark::scaling {

class RecurringPeaks {
 public:
  static constexpr size_t kMostDays = 7;

  /// Demands that came on earlier days, at the time that is now ahead.
  struct Found {
    std::array<double, kMostDays> demand{};
    size_t days = 0;

    double Highest() const;
  };

  /// Those above `above`, of a history with steps of a minute up to `minute`; others have none.
  static Found Find(const forecast::DemandHistory& history, int64_t minute, LeadMinutesAhead ahead,
                    double above);
  /// How likely one that was there on so many days, 1 or more, comes again; in (0, 1).
  double Chance(size_t days) const;
  /// Whether one that was there on so many days, 1 or more, came.
  void Note(size_t days, bool came);

  void Save(ByteWriter& out) const;
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  static constexpr size_t kKinds = 5;  ///< the last: on so many days or more

  static size_t KindOf(size_t days) { return days < kKinds ? days - 1 : kKinds - 1; }

  std::array<float, kKinds> came_{};  ///< old ones count less
  std::array<float, kKinds> seen_{};
};

}  // namespace tidemark::scaling
