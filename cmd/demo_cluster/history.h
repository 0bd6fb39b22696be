#pragma once
// The past of the demo cluster as samples, for `promtool tsdb create-blocks-from openmetrics`.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cmd/demo_cluster/cluster.h"
#include "cmd/demo_cluster/page.h"
#include "model/clock.h"
#include "model/result.h"

namespace tidemark::demo_cluster {

/// Samples by family and series, 16 bytes each in memory. Keeps of the exporters' pages what says
/// how much containers used and whose they are: the rows of cAdvisor that name a container, and of
/// kube-state-metrics owners, requests, replicas and kills. Not thread-safe.
class History final : public Page {
 public:
  /// The rows that follow were read at this time from the exporter that Prometheus scrapes as this
  /// job. Times must not go back.
  void Scrape(int64_t time_ms, std::string_view job);
  using Page::Row;
  void Family(std::string_view name, std::string_view type, std::string_view help) override;
  void Row(std::string_view labels, double value) override;

  size_t samples() const { return samples_; }

  /// Writes all as OpenMetrics text 1.0, every series with the labels job and, as a target has it,
  /// instance. kIo when the file cannot be written; a part of it may be there then.
  Result<void> Write(const std::string& path, std::string_view instance) const;

 private:
  struct Point {
    int64_t time_ms;
    double value;
  };
  struct Series {
    std::string labels;
    std::vector<Point> points;
  };
  struct FamilySeries {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    std::string job;
    std::vector<Series> series;
    std::unordered_map<std::string, size_t> places;  // by labels, in `series`
  };

  int64_t time_ms_ = 0;
  std::string job_;
  std::vector<FamilySeries> families_;
  FamilySeries* family_ = nullptr;  // the present one; null: not kept
  std::string key_;
  size_t samples_ = 0;
};

/// The cluster as it is at `end`, after `length` (cut to whole steps) that was recorded every
/// `step` (a whole number of minutes) at the speed of the wall clock; it is ready to go on at
/// `speed`.
Cluster MakeClusterWithHistory(uint64_t seed, double speed, TimePoint end,
                               std::chrono::milliseconds length, std::chrono::minutes step,
                               History& history);

}  // namespace tidemark::demo_cluster
