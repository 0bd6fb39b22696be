#pragma once
// One window of time of one unit: series of all metrics, ready to be handed on slice by slice.

#include <cstdint>
#include <string>
#include <vector>

#include "backfill/matrix_reader.h"
#include "backfill/options.h"
#include "backfill/plan.h"
#include "model/label.h"
#include "model/past.h"
#include "model/sample.h"
#include "model/sink.h"

namespace tidemark::backfill {

/// Not thread-safe.
class Window {
 public:
  explicit Window(const Options& options) : options_(options) {}

  /// Takes the series of one answer. What stands first is added first in every slice. Series whose
  /// labels break the limits are left out and counted.
  void Take(QueryAnswer answer);
  uint64_t LeftOut() const { return left_out_; }
  uint64_t Series() const { return series_.size(); }

  /// Hands on the samples from `from_ms` to `to_ms`, one slice per step, in order of time. Each
  /// series' samples must be asked for in order of time.
  WriteVerdict ApplyTo(Past& past, int64_t from_ms, int64_t to_ms, int64_t step_ms);

 private:
  struct Kept {
    std::string label_bytes;
    std::vector<LabelView> labels;  // into label_bytes
    std::vector<Sample> samples;
    size_t next = 0;
  };

  const Options& options_;
  std::vector<Kept> series_;
  uint64_t left_out_ = 0;
};

/// Labels as the live stream would carry them: without `drop`, with `add` where they are absent,
/// sorted, no empty values, in canonical encoding. Empty: they break the limits or have no name.
std::string LiveLabelBytes(const std::vector<std::pair<std::string, std::string>>& labels,
                           const Options& options);

}  // namespace tidemark::backfill
