#include "exporter/training_metrics.h"

#include <array>
#include <string_view>

namespace tidemark::exporter {
namespace {

void Write(const FamilyHeader& header, double value, ExpositionWriter& writer) {
  writer.BeginFamily(header);
  writer.Sample({}, value);
}

}  // namespace

void AppendTrainingMetrics(const TrainingCounters& counters, ExpositionWriter& writer) {
  writer.BeginFamily({"tidemark_forecast_training_fits_total",
                      "Fits of forecast models: trained, refused because the history does not "
                      "allow one, or stopped before they were done.",
                      MetricType::kCounter,
                      {}});
  const auto fits = [&](std::string_view outcome, const Counter& count) {
    writer.Sample(std::array<LabelView, 1>{{{"outcome", outcome}}},
                  static_cast<double>(count.load()));
  };
  fits("trained", counters.fits);
  fits("refused", counters.fits_refused);
  fits("stopped", counters.fits_stopped);
  Write({"tidemark_forecast_training_cpu_seconds_total", "CPU time spent on fits of any outcome.",
         MetricType::kCounter, "seconds"},
        static_cast<double>(counters.spent_milliseconds.load()) / 1000, writer);
  Write({"tidemark_forecast_training_activated_total",
         "Models taken into use.",
         MetricType::kCounter,
         {}},
        static_cast<double>(counters.activated.load()), writer);
  Write({"tidemark_forecast_training_activations_lost_total",
         "Models that were trained and not taken into use: the workload was gone, or the journal "
         "refused them.",
         MetricType::kCounter,
         {}},
        static_cast<double>(counters.activations_lost.load()), writer);
  Write({"tidemark_forecast_training_queued", "Fits that wait.", MetricType::kGauge, {}},
        static_cast<double>(counters.queued_now.load()), writer);
  if (const int64_t overdue_ms = counters.overdue_ms_now.load(); overdue_ms >= 0) {
    Write({"tidemark_forecast_training_backlog_seconds",
           "How long the fits that wait would take at the present budget; absent where that is 0.",
           MetricType::kGauge, "seconds"},
          static_cast<double>(overdue_ms) / 1000, writer);
  }
  Write({"tidemark_forecast_training_budget_ratio",
         "The share of one core that training may take.",
         MetricType::kGauge,
         {}},
        counters.budget_ratio_now.load(), writer);
}

}  // namespace tidemark::exporter
