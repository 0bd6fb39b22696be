#pragma once
// What `tidetool recommend` does: the daemon's own engine, filled from a Prometheus, for one
// Snapshot.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cmd/recommend_flags.h"
#include "cmd/report/report.h"
#include "model/backfill.h"

namespace tidemark::cmd {

/// Why there is no report, for people.
struct NoReport {
  std::string error;
  /// What to check, one line each; may be empty.
  std::vector<std::string> hints;
  bool cancelled = false;
};

/// What came of it: either a report, or why not.
struct RecommendOutcome {
  std::optional<report::Report> report;
  NoReport why_not;
  /// Part of the history could not be had, or the report lacks something: one line each.
  std::vector<std::string> not_covered;
  /// Of those, some were queries that failed; the others are metrics that the server does not have.
  bool queries_failed = false;
};

/// One run. Run on one thread; Status on any.
class RecommendRun {
 public:
  /// The order must outlive it.
  explicit RecommendRun(const RecommendOrder& order);
  ~RecommendRun();

  /// Returns within a second after `stop`.
  RecommendOutcome Run(const std::stop_token& stop);
  /// How far it is.
  BackfillStatus Status() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::cmd
