#include "cmd/backfill_wiring.h"

#include <utility>

namespace tidemark::cmd {

backfill::Options BackfillOptionsOf(const Config& config) {
  backfill::Options options = config.backfill;
  options.drop_labels = config.ha.replica_labels;
  options.label_limits = {.max_labels = config.remote_write.max_labels,
                          .max_name_bytes = config.remote_write.max_label_name_bytes,
                          .max_value_bytes = config.remote_write.max_label_value_bytes};
  return options;
}

std::unique_ptr<backfill::Runner> MakeBackfill(const Config& config, PastSink& sink,
                                               const Clock& clock, BackfillCounters& counters) {
  return std::make_unique<backfill::Runner>(BackfillOptionsOf(config), sink, clock, counters);
}

}  // namespace tidemark::cmd
