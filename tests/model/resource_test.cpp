#include <memory>
#include <string>
#include <vector>

#include "model/amount_text.h"
#include "model/resource_slots.h"
#include "model/resource_table.h"
#include "tests/catch.h"

using namespace tidemark;

TEST_CASE("Slots keep their address, their order and what was put there", "[model][resources]") {
  ResourceSlots<int> slots;
  CHECK(slots.Find(Resource::kGpuMemory) == nullptr);
  CHECK(slots.Get(Resource::kGpuMemory) == 0);
  slots.At(Resource::kGpuMemory) = 3;
  int* const gpu = slots.Find(Resource::kGpuMemory);
  slots.At(static_cast<Resource>(12)) = 5;
  slots.At(Resource::kGpuUtilization) = 2;
  slots.At(Resource::kCpu) = 1;
  CHECK(slots.Find(Resource::kGpuMemory) == gpu);
  CHECK(*gpu == 3);
  std::vector<int> seen;
  slots.ForEach([&](Resource, int value) { seen.push_back(value); });
  CHECK(seen == std::vector<int>{1, 0, 2, 3, 5});

  const ResourceSlots<int> copy = slots;
  CHECK(copy == slots);
  CHECK(copy.Find(Resource::kGpuMemory) != gpu);
  slots.At(Resource::kGpuMemory) = 4;
  CHECK_FALSE(copy == slots);
  CHECK(copy.Get(Resource::kGpuMemory) == 3);

  ResourceSlots<std::unique_ptr<std::string>> owning;
  owning.At(Resource::kEphemeralStorage) = std::make_unique<std::string>("disk");
  ResourceSlots<std::unique_ptr<std::string>> moved = std::move(owning);
  CHECK(*moved.Get(Resource::kEphemeralStorage) == "disk");
  CHECK(moved.Get(Resource::kGpuMemory) == nullptr);
}

TEST_CASE("What is not there is the same as what was never changed", "[model][resources]") {
  ResourceSlots<int> a;
  ResourceSlots<int> b;
  a.At(Resource::kGpuMemory);
  CHECK(a == b);
  CHECK(sizeof(ResourceSlots<int64_t>) == 3 * sizeof(int64_t));
}

TEST_CASE("A table knows the built-in resources and those it was given", "[model][resources]") {
  const ResourceTable plain;
  CHECK(plain.Names() == "cpu, memory, gpu_utilization, gpu_memory, ephemeral_storage");
  CHECK(plain.all().size() == kBuiltInResourceCount);
  CHECK_FALSE(plain.Parse("network_receive"));

  const ResourceTable table(
      {{"network_receive", "byte_per_second"}, {"connections", "connection"}});
  const auto first = table.Parse("network_receive");
  REQUIRE(first);
  CHECK(*first == Resource::kFirstCustom);
  CHECK(table.NameOf(*first) == "network_receive");
  CHECK(table.UnitOf(*first) == "byte_per_second");
  CHECK(table.all().back() == table.Parse("connections"));
  CHECK(table.NameOf(static_cast<Resource>(9)) == "unknown");
  CHECK(table.Parse("ephemeral_storage") == Resource::kEphemeralStorage);
  CHECK(table.UnitOf(Resource::kEphemeralStorage) == "byte");
  CHECK(table.ParseRequested("nvidia_com_gpu") == Resource::kGpuUtilization);
  CHECK(table.ParseRequested("connections") == table.Parse("connections"));
  CHECK_FALSE(table.ParseRequested("hugepages_2Mi"));

  std::vector<CustomResource> many;
  for (int i = 0; i < 20; ++i) many.push_back({"r" + std::to_string(i), "u"});
  CHECK(ResourceTable(many).custom().size() == kMaxCustomResources);
}

TEST_CASE("Amounts of whatever unit are written with decimal suffixes", "[model][resources]") {
  const Resource own = Resource::kFirstCustom;
  CHECK(AmountText(own, 0) == "0");
  CHECK(AmountText(own, 0.0001) == "<1m");
  CHECK(AmountText(own, 0.004) == "4m");
  CHECK(AmountText(own, 0.5) == "0.5");
  CHECK(AmountText(own, 17) == "17");
  CHECK(AmountText(own, 999.6) == "1k");
  CHECK(AmountText(own, 1'254'000) == "1.25M");
  CHECK(AmountText(own, -2.5e9) == "-2.5G");
  CHECK(AmountText(own, 3e18) == "3000P");
  CHECK(AmountText(Resource::kEphemeralStorage, 3 * 1024 * 1024) == "3Mi");
}
