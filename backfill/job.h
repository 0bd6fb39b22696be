#pragma once
// One back-fill from discovery to its end, on the thread that calls it.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "backfill/cursor.h"
#include "backfill/discovery.h"
#include "backfill/options.h"
#include "backfill/progress.h"
#include "backfill/querier.h"
#include "model/backfill.h"
#include "model/past.h"

namespace tidemark::backfill {

/// Not thread-safe. Everything given must outlive it.
class Job {
 public:
  /// Whose choice the step of the cursor's grid is.
  enum class Step : uint8_t { kGiven, kChosen };

  /// `cursor`: of a job that begins or goes on. A chosen step is made to fit the server's samples
  /// before anything is merged.
  Job(const Options& options, Cursor cursor, Step step, PastSink& sink, BackfillCounters& counters,
      Progress& progress, std::stop_token stop)
      : options_(options),
        cursor_(std::move(cursor)),
        step_(step),
        sink_(sink),
        counters_(counters),
        progress_(progress),
        stop_(std::move(stop)) {}

  /// Until it is finished, fails or is stopped; says so to the progress and the log.
  void Run();

  /// Those that were found, whatever came of their history. After Run.
  const std::vector<FoundNamespace>& namespaces() const { return namespaces_; }

 private:
  /// Why it ended early; nothing: it is finished.
  std::optional<QueryFault> RunUnits();
  std::optional<QueryFault> Connect();
  std::optional<QueryFault> Merge(const Unit& unit, double weight, class UnitBuilder& builder);
  /// With patience for a disk that is full for a while.
  Result<PastOutcome> Commit(Past& past, const Cursor& cursor);
  void ChooseStep(Found& found);
  /// To the cursor.
  void AddGaps(const std::vector<std::string>& gaps);
  void LogEnd(const std::optional<QueryFault>& fault);

  const Options& options_;
  Cursor cursor_;
  const Step step_;
  PastSink& sink_;
  BackfillCounters& counters_;
  Progress& progress_;
  std::stop_token stop_;
  std::vector<std::unique_ptr<Querier>> queriers_;
  std::vector<FoundNamespace> namespaces_;
};

}  // namespace tidemark::backfill
