#pragma once
// What training measures time and CPU by, so that tests need not wait for either.
//
// Thread-safe; times are in seconds.

#include <stop_token>

namespace tidemark::forecast {

class TrainingTime {
 public:
  virtual ~TrainingTime() = default;
  /// Of a clock that does not go back, from any beginning.
  virtual double Now() const = 0;
  /// CPU that the calling thread has spent since it began.
  virtual double Spent() const = 0;
  /// Lets time pass; less of it when `stop` is requested.
  virtual void Idle(double seconds, const std::stop_token& stop) = 0;
};

/// The machine's.
class MachineTime final : public TrainingTime {
 public:
  double Now() const override;
  double Spent() const override;
  void Idle(double seconds, const std::stop_token& stop) override;
};

/// The calling thread gets what CPU nobody else wants (SCHED_IDLE, else nice 19), from now on: an
/// unprivileged thread cannot go back. Where the system lets it do neither, nothing changes.
void YieldToAllOthers();

}  // namespace tidemark::forecast
