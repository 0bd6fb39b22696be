#include "workloads/sources.h"

#include <fstream>
#include <set>
#include <string>

#include "tests/catch.h"

using namespace tidemark;
using namespace tidemark::workloads;

namespace {
std::optional<Role> RoleOf(const SourceTable& table, std::vector<LabelView> labels) {
  const auto index = table.Find(labels);
  return index ? std::optional(table.at(*index).role) : std::nullopt;
}
}  // namespace

TEST_CASE("metrics without a role are not found", "[workloads][sources]") {
  const SourceTable table;
  CHECK(RoleOf(table, {{"__name__", "up"}}) == std::nullopt);
  CHECK(RoleOf(table, {}) == std::nullopt);
  CHECK(RoleOf(table, {{"__name__", "kube_pod_owner"}}) == Role::kPodOwner);
}

TEST_CASE("a selector decides which series of a metric have the role", "[workloads][sources]") {
  const SourceTable table;
  const auto memory = [&](std::string_view memtype) {
    return RoleOf(table,
                  {{"__name__", "namedprocess_namegroup_memory_bytes"}, {"memtype", memtype}});
  };
  CHECK(memory("resident") == Role::kUsageGauge);
  CHECK(memory("virtual") == std::nullopt);
  CHECK(RoleOf(table, {{"__name__", "kube_pod_status_ready"}, {"condition", "false"}}) ==
        std::nullopt);
}

TEST_CASE("the configuration replaces, adds and takes away", "[workloads][sources]") {
  Source rss;
  rss.metric = "container_memory_rss";
  rss.role = Role::kUsageGauge;
  rss.resource = Resource::kMemory;
  Source off;
  off.metric = "container_memory_working_set_bytes";
  off.role = Role::kNone;
  Source owner;
  owner.metric = "kube_pod_owner";
  owner.role = Role::kPodLabels;
  const SourceTable table({rss, off, owner});
  CHECK(RoleOf(table, {{"__name__", "container_memory_rss"}}) == Role::kUsageGauge);
  CHECK(RoleOf(table, {{"__name__", "container_memory_working_set_bytes"}}) == std::nullopt);
  CHECK(RoleOf(table, {{"__name__", "kube_pod_owner"}}) == Role::kPodLabels);
  CHECK(RoleOf(table, {{"__name__", "kube_job_owner"}}) == Role::kJobOwner);
  CHECK(table.size() == DefaultSources().size() + 2 - 2);
}

TEST_CASE("role names are unique and can be read back", "[workloads][sources]") {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Role::kLimitRange); ++i) {
    const Role role = static_cast<Role>(i);
    CHECK(names.insert(ToString(role)).second);
    CHECK(ParseRole(ToString(role)) == role);
  }
  CHECK(ParseRole("nonsense") == std::nullopt);
  CHECK(RoleNames().starts_with("none, usage_counter, "));
}

TEST_CASE("the default table is in units of the house", "[workloads][sources]") {
  for (const Source& source : DefaultSources()) {
    INFO(source.metric);
    CHECK(source.role != Role::kNone);
    CHECK((source.scale == 1 || source.metric.starts_with("DCGM_")));
    CHECK(source.workload_type.empty() ==
          (source.role != Role::kReplicas && source.labels.name_space != "instance"));
  }
}

TEST_CASE("the shipped keep-list names exactly the metrics of the default table",
          "[workloads][sources]") {
  std::ifstream file(TIDEMARK_TEST_DATA "/../../deploy/prometheus/remote-write.yaml");
  REQUIRE(file);
  std::set<std::string> kept;
  bool in_list = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find("regex:") != std::string::npos) {
      in_list = true;
      continue;
    }
    if (!in_list) continue;
    const size_t begin = line.find_first_not_of(' ');
    const size_t end = line.find_first_of("|\"\\", begin);
    if (begin != std::string::npos) kept.insert(line.substr(begin, end - begin));
  }
  std::set<std::string> known;
  for (const Source& source : DefaultSources()) known.insert(source.metric);
  CHECK(kept == known);
}

TEST_CASE("two sources have one fingerprint exactly when they are equal", "[workloads][sources]") {
  std::set<std::string> seen;
  for (const Source& source : DefaultSources()) {
    CHECK(Fingerprint(source) == Fingerprint(Source(source)));
    CHECK(seen.insert(Fingerprint(source)).second);
  }
  const auto differs = [&seen](auto change) {
    Source source = DefaultSources().front();
    change(source);
    return seen.insert(Fingerprint(source)).second;
  };
  CHECK_FALSE(differs([](Source&) {}));
  CHECK(differs([](Source& s) { s.metric = "m"; }));
  CHECK(differs([](Source& s) { s.role = Role::kUsageGauge; }));
  CHECK(differs([](Source& s) { s.resource = Resource::kMemory; }));
  CHECK(differs([](Source& s) { s.selector = *Selector::Parse(R"({a="b"})"); }));
  CHECK(differs([](Source& s) { s.labels.cluster = "c"; }));
  CHECK(differs([](Source& s) { s.labels.name_space = "n"; }));
  CHECK(differs([](Source& s) { s.labels.pod = "p"; }));
  CHECK(differs([](Source& s) { s.labels.container = "c"; }));
  CHECK(differs([](Source& s) { s.labels.workload = "w"; }));
  CHECK(differs([](Source& s) { s.workload_type = "t"; }));
  CHECK(differs([](Source& s) { s.part_labels = {"id cpu"}; }));
  CHECK(differs([](Source& s) { s.part_labels = {"id", "cpu", "gpu"}; }));
  CHECK(differs([](Source& s) { s.part_labels = {"cpu", "id"}; }));
  CHECK(differs([](Source& s) { s.scale = 1 + 1e-15; }));
}
