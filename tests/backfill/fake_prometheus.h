#pragma once
// A Prometheus that knows the few queries of a back-fill, on series that are functions of time.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/client/fake_server.h"

namespace tidemark::backfill {

struct FakeSeries {
  std::map<std::string, std::string> labels;  ///< with __name__
  int64_t from_ms = 0;                        ///< it lives
  int64_t to_ms = INT64_MAX;
  std::function<double(int64_t)> value = [](int64_t time_ms) {
    return static_cast<double>(time_ms) / 1000;
  };
};

/// Listens from construction on. Thread-safe.
class FakePrometheus {
 public:
  FakePrometheus();

  std::vector<FakeSeries> series;  ///< not to be changed while a job runs
  /// Answers in its place where it gives something.
  std::function<std::optional<std::string>(const client::FakeRequest&)> instead;
  uint64_t max_samples = 0;  ///< of a range query; more is refused as Prometheus does; 0: no limit
  bool only_get = false;     ///< 405 to POST
  bool no_label_values = false;
  int64_t sample_interval_ms = 0;  ///< what it says of its own samples; 0: nothing

  std::string url() const { return server_.url(); }
  /// Queries of query_range so far, in order.
  std::vector<std::string> RangeQueries() const;
  size_t requests() const;

 private:
  std::optional<std::string> Answer(const client::FakeRequest& request);
  std::string Instant(const std::string& query, int64_t time_ms) const;
  std::string Range(const client::FakeRequest& request);

  mutable std::mutex mutex_;
  std::vector<std::string> range_queries_;
  size_t requests_ = 0;
  client::FakeServer server_;  // the last member: it calls the others
};

/// `{"status":"error",…}` as Prometheus answers it.
std::string PrometheusError(int status, const std::string& type, const std::string& text);

/// CPU and memory of a container and the owner of its pod.
std::vector<FakeSeries> ContainerSeries(const std::string& name_space, const std::string& pod,
                                        const std::string& cluster = "");

/// What is told of the restarts and requests of its only container, which ended for memory or for
/// another reason.
std::vector<FakeSeries> KilledSeries(const std::string& name_space, const std::string& pod,
                                     bool killed);

}  // namespace tidemark::backfill
