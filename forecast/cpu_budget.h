#pragma once
// A share of one core, kept to by idling.
//
// What is spent is a debt that time pays off at the budget's rate; time in which nothing was owed
// is not saved up. So over any stretch of time no more is spent than the share of it, what one
// slice of work takes, and the little debt that is let be.
//
// A value type, not thread-safe. Times are in seconds, of any clock that does not go back.

namespace tidemark::forecast {

class CpuBudget {
 public:
  /// Debts that idling for this long pays off are let be: sleeps shorter than that cost more than
  /// they are worth.
  static constexpr double kLeastIdle = 0.05;
  /// After this long it is worth asking again how long: the budget may be another one.
  static constexpr double kMostIdle = 1;

  explicit CpuBudget(double now) : settled_(now) {}

  /// So much was spent since the last call, of a core of which `ratio` is the budget.
  void Spend(double seconds, double ratio, double now);
  /// How long to idle before any more is spent, at most kMostIdle; 0: not at all. With a ratio of 0
  /// there is no end to it.
  double IdleFor(double ratio, double now);

 private:
  double debt_ = 0;  ///< seconds of CPU
  double settled_;
};

}  // namespace tidemark::forecast
