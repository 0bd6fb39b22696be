#include "workloads/entities.h"

#include "tests/catch.h"

using namespace tidemark;
using namespace tidemark::workloads;

TEST_CASE("a container remembers the first minute of each resource", "[workloads][entities]") {
  WorkloadContainer container;
  container.BeginsAt(10 * kMinuteMs + 17, Resource::kCpu);
  CHECK(container.first.Get(Resource::kCpu).ms == 10 * kMinuteMs);
  CHECK(container.first.Get(Resource::kMemory).ms == kNever);
  container.BeginsAt(12 * kMinuteMs, Resource::kCpu);
  CHECK(container.first.Get(Resource::kCpu).ms == 10 * kMinuteMs);
  container.BeginsAt(8 * kMinuteMs + 1, Resource::kCpu);
  CHECK(container.first.Get(Resource::kCpu).ms == 8 * kMinuteMs);
}

TEST_CASE("a container that takes another over begins with the earlier one",
          "[workloads][entities]") {
  WorkloadContainer a;
  WorkloadContainer b;
  a.BeginsAt(5 * kMinuteMs, Resource::kCpu);
  b.BeginsAt(3 * kMinuteMs, Resource::kCpu);
  b.BeginsAt(9 * kMinuteMs, Resource::kMemory);
  a.past_until_ms = 4 * kMinuteMs;
  b.last_usage_ms = 20 * kMinuteMs;
  a.TakeOver(b);
  CHECK(a.first.Get(Resource::kCpu).ms == 3 * kMinuteMs);
  CHECK(a.first.Get(Resource::kMemory).ms == 9 * kMinuteMs);
  CHECK(a.first.Get(Resource::kGpuUtilization).ms == kNever);
  CHECK(a.past_until_ms == 4 * kMinuteMs);
  CHECK(a.last_usage_ms == 20 * kMinuteMs);
  b.TakeOver(a);
  CHECK(b.past_until_ms == 4 * kMinuteMs);
  CHECK(b.first == a.first);
}
