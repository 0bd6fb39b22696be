#include "exporter/config_metrics.h"

namespace tidemark::exporter {

void AppendConfigMetrics(const ConfigStatus& status, ExpositionWriter& writer) {
  writer.BeginFamily({"tidemark_config_last_reload_successful",
                      "Whether the configuration was good, and taken over, when last read.",
                      MetricType::kGauge,
                      {}});
  writer.Sample({}, status.last_reload_successful ? 1 : 0);
  writer.BeginFamily({"tidemark_config_last_reload_success_timestamp_seconds",
                      "When the configuration was last read and taken over.", MetricType::kGauge,
                      "seconds"});
  writer.Sample({}, static_cast<double>(status.last_success_ms) / 1000);
}

}  // namespace tidemark::exporter
