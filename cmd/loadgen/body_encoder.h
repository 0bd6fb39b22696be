#pragma once
// Bodies of remote write 1.0 and 2.0 out of series: what a tidy sender puts on the wire, one sample
// a series, packed as one snappy block.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cmd/loadgen/options.h"
#include "cmd/loadgen/series.h"

namespace tidemark::loadgen {

/// The message of one round of these series, not packed. `time_ms` is the round's; each sample lies
/// its series' offset behind it. Appends to nothing: `out` is cleared first.
void EncodeV1(std::span<const LoadSeries> series, int64_t time_ms, std::string& out);

/// The same as 2.0. What does not change from round to round, the symbols and the references, is
/// kept; Forget it when a label has changed. Not thread-safe.
class EncoderV2 {
 public:
  void Encode(std::span<const LoadSeries> series, int64_t time_ms, std::string& out);
  void Forget() { heads_.clear(); }

 private:
  void Learn(std::span<const LoadSeries> series);

  std::string symbols_;             // the symbols' fields, encoded
  std::vector<std::string> heads_;  // by series: labels_refs
  std::vector<std::string> tails_;  // by series: metadata
};

/// The snappy block of a message.
std::string Pack(const std::string& message);

}  // namespace tidemark::loadgen
