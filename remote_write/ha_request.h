#pragma once
// The HA decisions of one request: one for each pair and replica in it, asked of the tracker once.
//
// Each series is judged by its own label values; a request may carry several pairs. Usually all its
// series are of one replica, so the values of the last series are compared first.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/label.h"
#include "remote_write/ha_tracker.h"

namespace tidemark::remote_write {

/// Not thread-safe. Dropped without Answered, as when the request is answered 5xx, it has taken no
/// part in any election. Memory: one small entry for each pair and replica that the tracker
/// follows, however many others the request names.
class HaRequest {
 public:
  /// The tracker must outlive it. `arrival_ms` is the wall clock, Unix time.
  HaRequest(HaTracker& tracker, int64_t arrival_ms);
  ~HaRequest();
  HaRequest(const HaRequest&) = delete;
  HaRequest& operator=(const HaRequest&) = delete;

  /// What to do with a series of `replica` (not empty). The texts that `labels` and `replica` point
  /// to must live as long as this. No lock but for the first series of a pair and replica.
  HaDecision Decide(LabelsView labels, std::string_view replica);
  /// Samples of the series decided last that were offered to the engine, or shed.
  void Count(uint64_t samples);

  /// The request is answered for good. `applied`: the engine has taken in at least one sample of
  /// it. Call it at most once.
  void Answered(bool applied);

 private:
  struct Part {
    HaTracker::Seat seat;
    uint64_t samples = 0;
  };
  bool IsAsBefore(LabelsView labels, std::string_view replica);
  std::string ClusterName() const;
  void Settle(bool answered, bool applied);

  HaTracker& tracker_;
  const int64_t arrival_ms_;
  std::map<std::pair<std::string, std::string>, Part> parts_;
  Part refused_;

  // The series decided last.
  Part* current_ = nullptr;
  std::string_view replica_;
  std::vector<std::string_view> cluster_values_;  // in the order of the cluster labels
};

}  // namespace tidemark::remote_write
