// Any bytes as a saved namespace. What does not restore leaves nothing behind; what does is saved
// and restored again without a change, takes batches, is viewed, lives through silence and garbage
// collection, and goes without a trace.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/engine/namespace_world.h"

namespace {

using tidemark::testing::NamespaceWorld;
using tidemark::testing::RandomTraffic;
using tidemark::testing::TrafficBatch;
using tidemark::testing::TrafficSeries;
using tidemark::workloads::kNever;
using tidemark::workloads::NamespaceState;

void Require(bool condition) {
  if (!condition) std::abort();
}

/// Moves the batch, and so the namespace's time, on.
void Delay(TrafficBatch& batch, int64_t by_ms) {
  batch.arrival_ms += by_ms;
  for (TrafficSeries& series : batch.series) {
    for (tidemark::Sample& sample : series.samples) sample.timestamp_ms += by_ms;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Made once: what an input leaves behind in them shows in the next one.
  static NamespaceWorld first;
  static NamespaceWorld second;
  static const std::string nothing = first.Counted();
  static const std::vector<uint16_t> own_mapping = first.OwnMapping();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto mapping = own_mapping;
  if (size > 0 && data[size - 1] % 4 == 1) mapping[data[size / 2] % mapping.size()] = 0xFFFF;
  {
    tidemark::ByteReader in(bytes);
    auto restored = NamespaceState::Restore(in, mapping, 0, first.context);
    if (!restored) {
      Require(first.Counted() == nothing);
      return 0;
    }
    first.state = std::move(*restored);
  }
  const std::string saved = first.Saved();
  Require(second.Restore(saved, own_mapping).has_value());
  Require(second.Saved() == saved);
  Require(second.Counted() == first.Counted());

  const int64_t begin_ms =
      first.state->event_time_ms() == kNever ? 0 : first.state->event_time_ms();
  RandomTraffic traffic(static_cast<uint32_t>(size),
                        {.deployments = 1, .pods = 1, .silences = false, .begin_ms = begin_ms});
  constexpr int64_t kHourMs = 3'600'000;
  for (const int64_t delay_ms : {int64_t{0}, 3 * kHourMs, 9 * 24 * kHourMs}) {
    TrafficBatch batch = traffic.Next();
    Delay(batch, delay_ms);
    first.Put(batch);
    second.Put(batch);
  }
  Require(first.Shown() == second.Shown());
  Require(first.Saved() == second.Saved());
  first.state.reset();
  second.state.reset();
  Require(first.Counted() == nothing);
  Require(second.Counted() == nothing);
  return 0;
}
