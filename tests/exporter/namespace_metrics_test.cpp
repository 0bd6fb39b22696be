#include "exporter/namespace_metrics.h"

#include "tests/catch.h"
#include "tests/exporter/fakes.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

std::string Page(NamespaceMetrics& metrics, const Snapshot& snapshot, const Prices& prices = {}) {
  std::string page;
  ExpositionWriter writer(ExpositionFormat::kText, page);
  metrics.Append(snapshot, prices, writer);
  writer.Finish();
  return page;
}

ResourceAdvice Advice(Resource resource, std::optional<double> current,
                      std::optional<double> recommended, double replicas) {
  ResourceAdvice advice;
  advice.resource = resource;
  advice.current_request = current;
  advice.recommended_request = recommended;
  if (current && recommended) advice.reclaimable = (*current - *recommended) * replicas;
  return advice;
}

bool Has(const std::string& page, const std::string& line) {
  return page.find(line + "\n") != std::string::npos;
}

constexpr double kGib = 1024.0 * 1024 * 1024;

/// Three replicas of each of two Deployments (of 2 and 1 containers), and one workload without a
/// request.
Snapshot Shop() {
  auto block = MakeBlock(
      "eu", "shop", {{"deployment", "api"}},
      {{"app",
        {Advice(Resource::kCpu, 1, 0.25, 3), Advice(Resource::kMemory, 2 * kGib, 1 * kGib, 3)}},
       {"side", {Advice(Resource::kCpu, 0.25, 0.5, 3)}}});
  const auto more = MakeBlock("eu", "shop", {{"deployment", "bare"}},
                              {{"app", {Advice(Resource::kCpu, {}, 0.5, 3)}},
                               {"young", {Advice(Resource::kCpu, 0.5, {}, 3)}}});
  block->workloads.push_back(more->workloads.front());
  return MakeSnapshot({block});
}

}  // namespace

TEST_CASE("a namespace's sums are per pod times replicas, where both requests are known",
          "[exporter][namespaces]") {
  NamespaceMetrics metrics;
  const std::string page = Page(metrics, Shop());
  const std::string cpu = R"({cluster="eu",namespace="shop",resource="cpu",unit="core")";
  const std::string memory = R"({cluster="eu",namespace="shop",resource="memory",unit="byte")";
  INFO(page);
  CHECK(Has(page, "tidemark_namespace_current_request" + cpu + "} 3.75"));
  CHECK(Has(page, "tidemark_namespace_recommended_request" + cpu + "} 2.25"));
  CHECK(Has(page, "tidemark_namespace_reclaimable" + cpu + "} 1.5"));
  CHECK(Has(page, "tidemark_namespace_current_request" + memory + "} 6442450944"));
  CHECK(Has(page, "tidemark_namespace_recommended_request" + memory + "} 3221225472"));
  CHECK(Has(page, "tidemark_namespace_reclaimable" + memory + "} 3221225472"));
}

TEST_CASE("containers are counted by how their request is", "[exporter][namespaces]") {
  NamespaceMetrics metrics;
  const std::string page = Page(metrics, Shop());
  const auto count = [&](const std::string& resource, const std::string& request) {
    const std::string start = "tidemark_namespace_containers{cluster=\"eu\",namespace=\"shop\"," +
                              resource + ",request=\"" + request + "\"} ";
    const size_t at = page.find(start);
    REQUIRE(at != std::string::npos);
    return page.substr(at + start.size(), page.find('\n', at) - at - start.size());
  };
  const std::string cpu = R"(resource="cpu",unit="core")";
  CHECK(count(cpu, "far_over") == "1");
  CHECK(count(cpu, "under") == "1");
  CHECK(count(cpu, "absent") == "1");
  CHECK(count(cpu, "unknown") == "1");
  CHECK(count(cpu, "over") == "0");
  CHECK(count(cpu, "fitting") == "0");
  CHECK(count(R"(resource="memory",unit="byte")", "over") == "1");
}

TEST_CASE("savings are told by the prices in force, and only then", "[exporter][namespaces]") {
  NamespaceMetrics metrics;
  const Snapshot snapshot = Shop();
  CHECK(Page(metrics, snapshot).find("savings") == std::string::npos);
  // 1.5 cores and 3 GiB, 730 hours each.
  Prices prices{.currency = "EUR", .cpu_core_hour = 0.5, .memory_gib_hour = 0.25};
  const std::string name =
      R"(tidemark_namespace_savings_per_month{cluster="eu",namespace="shop",currency="EUR"} )";
  CHECK(Page(metrics, snapshot, prices).find(name + "1095\n") != std::string::npos);
  prices.memory_gib_hour = 0;
  CHECK(Page(metrics, snapshot, prices).find(name + "547.5\n") != std::string::npos);
  CHECK(Page(metrics, snapshot).find("savings") == std::string::npos);
}

TEST_CASE("a namespace of which nothing is known has counts and no sums",
          "[exporter][namespaces]") {
  NamespaceMetrics metrics;
  const Snapshot snapshot =
      MakeSnapshot({MakeBlock("", "host", {{"process", "nginx"}}, {{"", {MemoryAdvice(1e9)}}})});
  const std::string page =
      Page(metrics, snapshot, {.currency = "USD", .cpu_core_hour = 1, .memory_gib_hour = 1});
  INFO(page);
  CHECK(page.find("tidemark_namespace_reclaimable") == std::string::npos);
  CHECK(page.find("savings") == std::string::npos);
  CHECK(Has(
      page,
      R"(tidemark_namespace_containers{namespace="host",resource="memory",unit="byte",request="absent"} 1)"));
  CHECK(page.find(R"(resource="cpu")") == std::string::npos);
}
