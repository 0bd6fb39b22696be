// Rows, severities, sums and their order.

#include "cmd/report/report.h"

#include <string>
#include <vector>

#include "cmd/report/order.h"
#include "tests/catch.h"
#include "tests/cmd/report_fixture.h"

namespace tidemark::report {
namespace {

const Prices kPrices{.currency = "EUR", .cpu_core_hour = 0.03, .memory_gib_hour = 0.004};

std::string NameOf(const Row& row) { return row.id.workload + "/" + row.container; }

std::vector<std::string> NamesOf(const Report& report) {
  std::vector<std::string> names;
  for (const Row& row : report.rows) names.push_back(NameOf(row));
  return names;
}

const Row& Find(const Report& report, const std::string& name) {
  for (const Row& row : report.rows) {
    if (NameOf(row) == name) return row;
  }
  FAIL("no row " << name);
  return report.rows.front();
}

Selector Parsed(const std::string& text) { return Selector::Parse(text).value(); }

Severity Of(std::vector<ResourceAdvice> advices, bool told = true) {
  std::vector<const ResourceAdvice*> pointers;
  for (const ResourceAdvice& advice : advices) pointers.push_back(&advice);
  return SeverityOf(pointers, told);
}

}  // namespace

TEST_CASE("Every container is a row, sidecars and processes too", "[report]") {
  const Report report = SmallReport();
  CHECK(NamesOf(report) ==
        std::vector<std::string>{"ledger/db", "web/app", "web/proxy", "young/app", "nginx/"});
  CHECK(report.workloads_left_out == 1);
  CHECK(report.rows_in_all == 5);
  const Row& web = Find(report, "web/app");
  CHECK(web.replicas == 3);
  CHECK(web.profile == "default");
  CHECK(web.confidence_days == 7);
  CHECK(web.Reclaimable(Resource::kCpu).value() == Approx(2.4));
  CHECK(web.Reclaimable(Resource::kMemory).value() == 0);
  CHECK_FALSE(web.Reclaimable(Resource::kGpuMemory));
  CHECK(web.cells.front().reason.starts_with("cpu 200m: "));
  CHECK(Find(report, "ledger/db").confidence_days == 3);  // of two resources the fewer
  CHECK(Find(report, "young/app").confidence_days == 0);
}

TEST_CASE("Workloads without pods are shown when asked for; CronJobs always", "[report]") {
  Filter all;
  all.without_pods = true;
  CHECK(NamesOf(SmallReport({}, all)).size() == 6);
  CHECK(SmallReport({}, all).workloads_left_out == 0);
  Snapshot snapshot = SmallCluster();
  auto block = std::make_shared<NamespaceBlock>(*snapshot.blocks[1]);
  block->workloads[0].id.workload_type = "cronjob";
  snapshot.blocks[1] = block;
  const Report report = MakeReport(snapshot, {}, {}, {});
  CHECK(report.rows.size() == 6);
  CHECK(report.workloads_left_out == 0);
}

TEST_CASE("Rows can be chosen by selector and by name", "[report]") {
  const auto names = [](Filter filter) { return NamesOf(SmallReport({}, filter)); };
  CHECK(names({.selector = Parsed("{container=\"proxy\"}"), .workloads = {}}) ==
        std::vector<std::string>{"web/proxy"});
  CHECK(names({.selector = Parsed("{namespace=\"bank\"}"), .workloads = {}}) ==
        std::vector<std::string>{"ledger/db"});
  CHECK(names({.selector = {}, .workloads = Parsed("{name=~\"we.*\"}")}) ==
        std::vector<std::string>{"web/app", "web/proxy"});
  CHECK(names({.selector = {}, .workloads = Parsed("{name=~\"process/.*\"}")}) ==
        std::vector<std::string>{"nginx/"});
  CHECK(names({.selector = {}, .workloads = Parsed("{name=~\"nobody\"}")}).empty());
  // Sums are of what was chosen.
  const Report report =
      SmallReport({}, {.selector = Parsed("{container=\"proxy\"}"), .workloads = {}});
  REQUIRE(report.namespaces.size() == 1);
  CHECK(report.namespaces[0].name_space == "shop");
  CHECK(report.total.Containers() == 1);
  CHECK(report.workloads_left_out == 0);
}

TEST_CASE("Severity is the worst of what cpu and memory say", "[report][severity]") {
  const ResourceAdvice good = Advice(Resource::kCpu, 1, 1);
  CHECK(Of({good}) == Severity::kOk);
  CHECK(Of({}) == Severity::kUnknown);
  CHECK(Of({Advice(Resource::kCpu, 1, {})}) == Severity::kUnknown);
  CHECK(Of({Advice(Resource::kCpu, 1, {}), Advice(Resource::kMemory, 1, 1)}) == Severity::kOk);
  CHECK(Of({Advice(Resource::kCpu, 3.9, 1)}) == Severity::kOk);
  CHECK(Of({Advice(Resource::kCpu, 4, 1)}) == Severity::kWarning);
  CHECK(Of({Advice(Resource::kCpu, 0.5, 1)}) == Severity::kWarning);
  CHECK(Of({good, Advice(Resource::kMemory, kGib, 2 * kGib)}) == Severity::kCritical);
  CHECK(Of({good, Advice(Resource::kMemory, 4 * kGib, kGib)}) == Severity::kWarning);
  CHECK(Of({good, Advice(Resource::kMemory, {}, kGib)}) == Severity::kWarning);
  CHECK(Of({good, Advice(Resource::kMemory, {}, kGib)}, false) == Severity::kOk);
  ResourceAdvice killed = Advice(Resource::kMemory, 2 * kGib, kGib);
  killed.kills = 1;
  CHECK(Of({good, killed}) == Severity::kCritical);
}

TEST_CASE("Sums and savings are of the rows, by namespace and in all", "[report]") {
  const Report report = SmallReport(kPrices);
  REQUIRE(report.namespaces.size() == 2);
  const Totals& bank = report.namespaces[0];
  const Totals& shop = report.namespaces[1];
  CHECK(bank.sums.Of(Resource::kMemory).reclaimable == -512 * kMib);
  CHECK(bank.savings_per_month.value() == Approx(-0.5 * 0.004 * 730));
  CHECK(shop.sums.Of(Resource::kCpu).current == Approx(3.3));
  CHECK(shop.sums.Of(Resource::kCpu).recommended == Approx(0.9));
  CHECK(shop.sums.Of(Resource::kCpu).known == 2);
  CHECK(shop.sums.Of(Resource::kCpu).Containers() == 4);
  CHECK(shop.savings_per_month.value() == Approx(2.4 * 0.03 * 730));
  CHECK(report.total.savings_per_month.value() ==
        Approx(bank.savings_per_month.value() + shop.savings_per_month.value()));
  CHECK(report.total.severities == std::array<uint64_t, kSeverityCount>{1, 1, 2, 1});
  CHECK(report.total.Containers() == 5);
}

TEST_CASE("Rows are sorted by what is asked for, the unknown last", "[report][order]") {
  const auto sorted = [](SortBy sort, size_t top = 0) {
    Report report = SmallReport(kPrices);
    SortRows(sort, top, report);
    return NamesOf(report);
  };
  using Names = std::vector<std::string>;
  CHECK(sorted(SortBy::kName) == Names{"ledger/db", "web/app", "web/proxy", "young/app", "nginx/"});
  CHECK(sorted(SortBy::kSavings) ==
        Names{"web/app", "web/proxy", "ledger/db", "young/app", "nginx/"});
  CHECK(sorted(SortBy::kCpu) == Names{"web/app", "ledger/db", "web/proxy", "young/app", "nginx/"});
  CHECK(sorted(SortBy::kMemory) ==
        Names{"web/app", "ledger/db", "web/proxy", "young/app", "nginx/"});
  CHECK(sorted(SortBy::kSeverity) ==
        Names{"ledger/db", "web/app", "web/proxy", "nginx/", "young/app"});
  CHECK(sorted(SortBy::kSeverity, 2) == Names{"ledger/db", "web/app"});
  CHECK(sorted(SortBy::kSeverity, 100).size() == 5);
}

TEST_CASE("Leaving rows out leaves the sums alone", "[report][order]") {
  Report report = SmallReport(kPrices);
  SortRows(SortBy::kSavings, 1, report);
  CHECK(report.rows.size() == 1);
  CHECK(report.rows_in_all == 5);
  CHECK(report.total.Containers() == 5);
}

TEST_CASE("A row knows who scales it", "[report]") {
  Autoscalers scalers;
  scalers[{"", "shop", "deployment", "web"}] = {"web-hpa", {"cpu utilization"}, true};
  scalers[{"", "bank", "deployment", "web"}] = {"other", {}, false};
  Report report = SmallReport({}, {}, std::move(scalers));
  REQUIRE(Find(report, "web/app").autoscaler != nullptr);
  CHECK(Find(report, "web/app").autoscaler->name == "web-hpa");
  CHECK(Find(report, "ledger/db").autoscaler == nullptr);
  const Report moved = std::move(report);  // rows point into what moves with them
  CHECK(Find(moved, "web/proxy").autoscaler->targets.front() == "cpu utilization");
}

}  // namespace tidemark::report
