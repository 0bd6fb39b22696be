#pragma once
// The order in which fits come: by cheapness and staleness, and by turns by staleness alone.
//
// What has been due for long and costs little comes first. Where that order alone would never come
// to an end, because cheap fits become due faster than they are done, a costly one would wait for
// ever; so as soon as anything is overdue by a whole period, half of what is spent goes to the
// stalest, whatever they cost.
//
// Networks are given out several at a time, as they are trained together.
//
// Not thread-safe. Take is O(log n), and O(n) while anything is overdue.

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "forecast/trainer.h"

namespace tidemark::forecast {

class TrainingQueue {
 public:
  /// Fits of at most so many seconds are short: they may come in between while a longer one goes
  /// on.
  static constexpr double kShortSeconds = 1;
  /// From this staleness on a fit is overdue.
  static constexpr double kOverdue = 2;

  /// All that is wanted at this time (seconds), in place of what was; without what is under way or
  /// rests.
  void Set(std::vector<TrainingWish> wishes, double now);
  /// The next, which is then under way; more than one only of networks of like cost. Empty: nothing
  /// is wanted.
  std::vector<TrainingWish> Take(size_t most_together);
  /// The next of the short ones, if any.
  std::vector<TrainingWish> TakeShort();
  /// It is no longer under way, and is not taken in again before `until`.
  void End(const TrainingWish& wish, double until);

  size_t size() const { return short_.size() + long_.size(); }
  bool HasShort() const { return !short_.empty(); }
  /// What all of them cost together.
  double Seconds() const { return seconds_; }

 private:
  using Heap = std::vector<TrainingWish>;
  struct SameFit {
    bool operator()(const TrainingWish& a, const TrainingWish& b) const {
      return std::tie(a.owner, a.model, a.workload) < std::tie(b.owner, b.model, b.workload);
    }
  };
  struct Place {
    Heap* heap;
    size_t at;
  };

  Heap& Cheapest();
  Place Stalest();
  TrainingWish Remove(Place place);

  Heap short_;
  Heap long_;
  size_t overdue_ = 0;  ///< how many of both are
  double owed_ = 0;     ///< seconds, to the stalest
  double seconds_ = 0;
  std::map<TrainingWish, double, SameFit> not_before_;  ///< under way: infinite
};

}  // namespace tidemark::forecast
