#include "exporter/storage_metrics.h"

#include <atomic>
#include <string_view>

namespace tidemark::exporter {
namespace {

class Page {
 public:
  explicit Page(ExpositionWriter& writer) : writer_(writer) {}

  void Count(std::string_view name, std::string_view help, const Counter& value) {
    Write({name, help, MetricType::kCounter, {}}, static_cast<double>(value.load()));
  }
  void Gauge(std::string_view name, std::string_view help, const std::atomic<int64_t>& value,
             std::string_view unit = {}, double per_unit = 1) {
    Write({name, help, MetricType::kGauge, unit}, static_cast<double>(value.load()) / per_unit);
  }

 private:
  void Write(const FamilyHeader& header, double value) {
    writer_.BeginFamily(header);
    writer_.Sample({}, value);
  }
  ExpositionWriter& writer_;
};

constexpr double kMsPerSecond = 1000;

}  // namespace

void AppendStorageMetrics(const StorageCounters& counters, ExpositionWriter& writer) {
  Page page(writer);
  page.Count("tidemark_storage_journal_records_total", "Records appended to the journal.",
             counters.journal_records);
  page.Count("tidemark_storage_journal_payload_bytes_total",
             "Bytes of the records appended to the journal.", counters.journal_payload_bytes);
  page.Count("tidemark_storage_journal_appends_total",
             "Groups of records that were written together.", counters.journal_appends);
  page.Count("tidemark_storage_journal_syncs_total", "Waits for the disk to have what was written.",
             counters.journal_syncs);
  page.Count("tidemark_storage_journal_sync_failures_total",
             "Waits for the disk that failed; they are repeated.", counters.journal_sync_failures);
  page.Count("tidemark_storage_journal_append_failures_total",
             "Groups of records that the disk refused or had no room for; their samples were "
             "answered 503.",
             counters.journal_append_failures);
  page.Count("tidemark_storage_journal_dropped_records_total",
             "Records found damaged at the start, and those behind them.",
             counters.journal_records_dropped);
  page.Count("tidemark_storage_journal_dropped_bytes_total",
             "Bytes of the journal found torn or damaged at the start.",
             counters.journal_bytes_dropped);
  page.Gauge("tidemark_storage_journal_first_record", "Number of the oldest record that is kept.",
             counters.journal_first_number_now);
  page.Gauge("tidemark_storage_journal_last_record", "Number of the newest record.",
             counters.journal_last_number_now);
  page.Gauge("tidemark_storage_journal_bytes", "Size of the journal on disk, about.",
             counters.journal_bytes_now, "bytes");
  if (counters.disk_free_bytes_now.load() >= 0) {
    page.Gauge("tidemark_storage_free_bytes", "Room on the disk of --storage.path.",
               counters.disk_free_bytes_now, "bytes");
  }
  page.Count("tidemark_storage_checkpoints_total", "Checkpoints written.",
             counters.checkpoints_written);
  page.Count("tidemark_storage_checkpoint_failures_total", "Checkpoints that could not be written.",
             counters.checkpoints_failed);
  page.Count("tidemark_storage_damaged_checkpoints_total",
             "Checkpoints found damaged at the start, for which the one before was used.",
             counters.checkpoints_damaged);
  if (counters.last_checkpoint_ms.load() != 0) {
    page.Gauge("tidemark_storage_last_checkpoint_timestamp_seconds",
               "When the last checkpoint was written.", counters.last_checkpoint_ms, "seconds",
               kMsPerSecond);
    page.Gauge("tidemark_storage_last_checkpoint_duration_seconds",
               "How long the last checkpoint took.", counters.last_checkpoint_duration_ms_now,
               "seconds", kMsPerSecond);
    page.Gauge("tidemark_storage_last_checkpoint_bytes", "Size of the last checkpoint.",
               counters.last_checkpoint_bytes_now, "bytes");
  }
  page.Count("tidemark_storage_recovered_records_total",
             "Records of the journal that were replayed at the start.", counters.recovered_records);
  page.Count("tidemark_storage_missed_series_total",
             "Entries of replayed records whose series was not there.", counters.missed_series);
  page.Gauge("tidemark_storage_recovery_duration_seconds", "How long recovery took at the start.",
             counters.recovery_duration_ms_now, "seconds", kMsPerSecond);
}

}  // namespace tidemark::exporter
