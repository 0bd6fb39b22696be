#include "exporter/backfill_metrics.h"

#include <array>
#include <string_view>
#include <utility>

namespace tidemark::exporter {
namespace {

double Value(const Counter& counter) {
  return static_cast<double>(counter.load(std::memory_order_relaxed));
}

void Single(std::string_view name, std::string_view help, MetricType type, double value,
            ExpositionWriter& writer) {
  std::string_view unit;
  if (name.ends_with("_seconds")) unit = "seconds";
  if (name.ends_with("_bytes_total")) unit = "bytes";
  writer.BeginFamily({name, help, type, unit});
  writer.Sample({}, value);
}

void Time(std::string_view name, std::string_view help, const TimestampGauge& time,
          ExpositionWriter& writer) {
  const int64_t unix_ms = time.load(std::memory_order_relaxed);
  if (unix_ms == 0) return;  // never
  Single(name, help, MetricType::kGauge, static_cast<double>(unix_ms) / 1000, writer);
}

}  // namespace

void AppendBackfillMetrics(const BackfillStatus& status, const BackfillCounters& counters,
                           ExpositionWriter& writer) {
  const auto gauge = [&](std::string_view name, std::string_view help, double value) {
    Single(name, help, MetricType::kGauge, value, writer);
  };
  const auto counter = [&](std::string_view name, std::string_view help, const Counter& value) {
    Single(name, help, MetricType::kCounter, Value(value), writer);
  };
  writer.BeginFamily({"tidemark_backfill_state",
                      "State of the last back-fill: 1 for the one that it is in, 0 for the others.",
                      MetricType::kGauge,
                      {}});
  for (size_t i = 0; i < kBackfillStateCount; ++i) {
    const auto state = static_cast<BackfillState>(i);
    writer.Sample(std::array<LabelView, 1>{{{"state", ToString(state)}}},
                  status.state == state ? 1 : 0);
  }
  gauge("tidemark_backfill_progress_ratio", "How much of the last back-fill is done, 0 to 1.",
        status.progress_ratio);
  gauge("tidemark_backfill_not_covered",
        "Parts of the history that the last back-fill could not get.",
        static_cast<double>(status.not_covered_total));
  writer.BeginFamily({"tidemark_backfill_queries_total",
                      "Queries of back-fills by how they ended: ok, too_large (asked again for "
                      "less), retried (failed in passing), failed (given up).",
                      MetricType::kCounter,
                      {}});
  for (const auto& [result, queries] :
       {std::pair<std::string_view, const Counter&>("ok", counters.queries_ok),
        {"too_large", counters.queries_too_large},
        {"retried", counters.queries_retried},
        {"failed", counters.queries_failed}}) {
    writer.Sample(std::array<LabelView, 1>{{{"result", result}}}, Value(queries));
  }
  counter("tidemark_backfill_samples_total", "Samples that back-fills have received.",
          counters.samples);
  counter("tidemark_backfill_received_bytes_total",
          "Bytes that back-fills have received, unpacked.", counters.received_bytes);
  // "Windows" as in tidemark_engine_usage_windows_total: promtool takes minutes for a unit.
  counter("tidemark_backfill_merged_windows_total",
          "Minutes of usage that back-fills have merged into the history.",
          counters.merged_minutes);
  counter("tidemark_backfill_merged_containers_total",
          "Containers that have got history from a back-fill.", counters.merged_containers);
  Time("tidemark_backfill_last_error_timestamp_seconds",
       "When a back-fill last missed something or ended early.", counters.last_error_ms, writer);
  Time("tidemark_backfill_last_finished_timestamp_seconds", "When a back-fill was last finished.",
       counters.last_finished_ms, writer);
}

}  // namespace tidemark::exporter
