#pragma once
// The usage history of one shard's containers and the requests estimated from it.
//
// Closed minutes come in from workloads/, histograms of estimators/ keep them, advice goes out.
// Lives on the shard's thread; not thread-safe.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/options.h"
#include "estimators/confidence.h"
#include "estimators/decaying_histogram.h"
#include "estimators/histogram_options.h"
#include "estimators/memory_peak_window.h"
#include "model/snapshot.h"
#include "workloads/namespace_state.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

class RequestHistory final : public workloads::UsageSink {
 public:
  explicit RequestHistory(const Options& options);

  void AddUsage(uint32_t container, uint32_t instance, Resource resource,
                workloads::UsageMinute minute, std::optional<double> request) override;
  void MergeContainer(uint32_t from, uint32_t into) override;
  void RemoveContainer(uint32_t container) override;
  void RemoveInstance(uint32_t instance) override;

  // Every bit of it survives. A history that was saved with another half-life than the options name
  // now has decayed with that one until its newest minute, and goes on with the one of now
  // (DecayingHistogram::ChangeHalfLife); percentile, margin and minimum change nothing in it.
  void SaveContainer(uint32_t container, ByteWriter& out) const override;
  void SaveInstance(uint32_t instance, ByteWriter& out) const override;
  Result<void> RestoreContainer(uint32_t container, ByteReader& in) override;
  Result<void> RestoreInstance(uint32_t instance, ByteReader& in) override;
  Result<void> MergeSaved(uint32_t container, ByteReader& in) override;

  /// The history of one resource of a container; null when there is none. Until the next change.
  const estimators::DecayingHistogram* HistogramOf(uint32_t container, Resource resource) const;
  const estimators::SampleSpan* MinutesOf(uint32_t container, Resource resource) const;

  /// What the history says of one workload as it is now.
  WorkloadAdvice Advise(const workloads::WorkloadView& workload) const;

 private:
  /// History of one resource of one container of a workload.
  struct History {
    estimators::DecayingHistogram histogram;
    estimators::SampleSpan minutes;
  };
  using Histories = std::array<std::unique_ptr<History>, kResourceCount>;
  /// Peak windows of one container of one pod.
  using Windows = std::array<std::unique_ptr<estimators::MemoryPeakWindow>, kResourceCount>;

  const History* Find(uint32_t container, Resource resource) const;
  History& HistoryOf(Histories& histories, Resource resource) const;
  std::chrono::nanoseconds HalfLifeOf(Resource resource) const;
  Result<Histories> ReadHistories(ByteReader& in) const;
  const estimators::HistogramOptions& LayoutOf(Resource resource) const;
  static double ConfidenceDays(Resource resource, const History& history, const History* cpu);
  ResourceAdvice Advise(Resource resource, const History* history, const History* cpu,
                        const workloads::ContainerView& container,
                        const workloads::WorkloadView& workload) const;

  const Options& options_;
  const estimators::HistogramOptions core_layout_;
  const estimators::HistogramOptions byte_layout_;
  std::vector<std::unique_ptr<Histories>> containers_;  // by ShardContext::containers
  std::vector<std::unique_ptr<Windows>> instances_;     // by ShardContext::instances
};

}  // namespace tidemark::engine
