// Any bytes as a trace and as a manifest: no crash, what comes out is within the bounds, and the
// same again.

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "cmd/replay_requests/manifest.h"
#include "cmd/replay_requests/trace_csv.h"

namespace {

using namespace tidemark::replay_requests;

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

void CheckTrace(const Trace& trace) {
  Require(trace.step_ms >= kMinStepMs && trace.step_ms <= kMaxStepMs);
  Require(trace.steps >= 2 && !trace.pods.empty());
  Require(trace.steps * trace.pods.size() <= kMaxCells);
  for (const PodUsage& pod : trace.pods) {
    Require(!pod.pod.empty());
    for (size_t r = 0; r < kReplayed.size(); ++r) {
      Require(pod.samples[r].size() == trace.steps);
      for (const double sample : pod.samples[r]) {
        Require(!IsThere(sample) || (sample >= 0 && sample <= (r == 0 ? kMaxCores : kMaxBytes)));
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trace = ParseTraceCsv(text, "fuzz");
  if (trace) {
    CheckTrace(*trace);
  } else {
    Require(trace.error().message.starts_with("fuzz:"));
    Require(trace.error().message.find('\n') == std::string::npos);
  }
  const auto lines = ParseManifest(text, "fuzz");
  if (!lines) {
    Require(lines.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (const ManifestLine& line : *lines) {
    Require(line.file.find('/') == std::string::npos && !line.file.empty());
    Require(!line.pods_per_unit || (*line.pods_per_unit > 0 && *line.pods_per_unit <= 1e12));
  }
  return 0;
}
