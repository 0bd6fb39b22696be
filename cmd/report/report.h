#pragma once
// The one-shot report of `tidetool recommend`: one row per container, and what they come to.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cmd/report/severity.h"
#include "model/prices.h"
#include "model/request_sums.h"
#include "model/selector.h"
#include "model/snapshot.h"

namespace tidemark::report {

/// A HorizontalPodAutoscaler and what it goes by.
struct Autoscaler {
  std::string name;
  std::vector<std::string> targets;  ///< e.g. "cpu utilization"; empty: not told
  /// It goes by use as a share of the request: another request changes how many pods it asks for.
  bool by_request = false;
};
/// By cluster, namespace, type (lower case) and name of what it scales.
using Autoscalers =
    std::map<std::tuple<std::string, std::string, std::string, std::string>, Autoscaler>;

/// One resource of a container.
struct Cell {
  ResourceAdvice advice;  ///< amounts are per pod
  RequestFit fit = RequestFit::kUnknown;
  std::optional<double> savings_per_month;
  std::string reason;  ///< one sentence; empty where no profile is known
};

struct Row {
  WorkloadId id;
  std::string container;  ///< empty for processes
  double replicas = 0;
  Severity severity = Severity::kUnknown;
  std::string profile;
  double confidence_days = 0;  ///< of cpu and memory the fewer; 0: nothing is recommended
  std::optional<double> savings_per_month;
  std::vector<Cell> cells;  ///< in the order of Resource
  const Autoscaler* autoscaler = nullptr;

  /// Null when the container has none of it.
  const Cell* Find(Resource resource) const;
  std::optional<double> Reclaimable(Resource resource) const;
};

/// What some rows come to.
struct Totals {
  std::string cluster;
  std::string name_space;
  AllRequestSums sums;
  std::array<uint64_t, kSeverityCount> severities{};
  std::optional<double> savings_per_month;

  uint64_t Containers() const;
};

/// What is asked of a Snapshot.
struct Filter {
  /// Over cluster, namespace, workload_type, workload, container, and `name` (TYPE/WORKLOAD).
  Selector selector;
  Selector workloads;
  /// Also workloads that have no pods now.
  bool without_pods = false;
};

/// Plain data, apart from whatever it was made of.
struct Report {
  // Where it comes from; for the reader only.
  std::string prometheus;
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;
  std::string profiles;  ///< "preset vpa", or the configuration's file
  Prices prices;
  ResourceTablePtr resources;         ///< what they are called; never null in one that was made
  std::vector<std::string> warnings;  ///< what is missing; one line each
  std::vector<std::string> notes;

  Autoscalers autoscalers;  ///< the rows point into it
  std::vector<Row> rows;
  size_t rows_in_all = 0;          ///< also those that --top leaves out
  size_t workloads_left_out = 0;   ///< that have no pods now
  std::vector<Totals> namespaces;  ///< of all rows, sorted by name
  Totals total;

  Report() = default;
  Report(Report&&) = default;
  Report& operator=(Report&&) = default;
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report() = default;
};

/// The rows of a Snapshot that match, in its order, and their totals.
Report MakeReport(const Snapshot& snapshot, const Filter& filter, const Prices& prices,
                  Autoscalers autoscalers);

}  // namespace tidemark::report
