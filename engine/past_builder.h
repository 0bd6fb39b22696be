#pragma once
// The past of some namespaces while it is being built: the same rooms as a shard's, apart from all
// shards.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/addressing.h"
#include "engine/past_record.h"
#include "engine/request_history.h"
#include "model/counters.h"
#include "model/past.h"
#include "model/profile.h"
#include "workloads/known_series.h"
#include "workloads/namespace_state.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

/// Where the past of each container has to end, by hash of the namespace, type and name of the
/// workload, and container: the starts of the first minutes that are known of it.
using PastEnds = std::map<std::tuple<uint64_t, std::string, std::string, std::string>,
                          ResourceSlots<workloads::FirstMinute>>;

class PastBuilder final : public Past {
 public:
  /// Puts the finished record into the line and the shards.
  using Commit = std::function<Result<PastOutcome>(const std::shared_ptr<const PastRecord>&)>;

  /// `end_ms` is brought down to a whole minute. The addressing must outlive it.
  PastBuilder(ProfileSetPtr profiles, ForecastSettingsPtr forecast, int64_t max_series,
              const Addressing& addressing, const std::vector<NamespaceName>& of, int64_t end_ms,
              PastEnds ends, Commit commit);
  ~PastBuilder() override;

  void Add(const IncomingSeries& series) override;
  WriteVerdict ApplySlice() override;
  uint64_t MemoryBytes() const override;
  Result<PastOutcome> Merge(std::string_view cursor) override;

 private:
  class CutHistory;
  std::shared_ptr<const PastRecord> Record(std::string_view cursor);

  const Addressing& addressing_;
  const int64_t end_ms_;
  const Commit commit_;
  EngineCounters counters_;  // of nobody's interest but MemoryBytes
  workloads::SeriesBudget budget_;
  workloads::KnownSeries known_;
  std::unique_ptr<CutHistory> history_;
  workloads::ShardContext context_;
  struct Resident {
    NamespaceName name;
    std::unique_ptr<workloads::NamespaceState> state;
  };
  std::map<uint64_t, Resident> namespaces_;  // by hash
  std::vector<workloads::SeriesItem> slice_;
  std::vector<Sample> samples_;
  WriteVerdict verdict_;                      // of what was never applied in the present slice
  std::shared_ptr<const PastRecord> record_;  // once Merge was called
};

}  // namespace tidemark::engine
