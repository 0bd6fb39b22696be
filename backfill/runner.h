#pragma once
// Runs back-fills, one at a time, on a thread of its own; the way in for everybody else.
//
// The store keeps a cursor with each merge: what a killed process had not merged is built again
// from the beginning of that unit, what it had merged never is.

#include <memory>

#include "backfill/options.h"
#include "model/backfill.h"
#include "model/clock.h"
#include "model/past.h"

namespace tidemark::backfill {

/// Thread-safe. Sink, clock and counters must outlive it.
class Runner final : public BackfillControl {
 public:
  /// The sink need not be ready: until Ready nothing of it is used, and Start is refused.
  Runner(Options options, PastSink& sink, const Clock& clock, BackfillCounters& counters);
  /// As Stop.
  ~Runner() override;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// The sink is ready from now on; the status shows what its cursor tells.
  void Ready();
  /// Ready, and then: goes on with an unfinished job, or begins the configured one if none
  /// ever was. Never twice what is finished.
  void StartIfDue();

  Result<bool> Start(const BackfillRequest& request) override;
  Result<void> Cancel() override;
  BackfillStatus Status() const override;

  /// Ends what runs, within a second; it goes on at the next start. Idempotent, for good.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::backfill
