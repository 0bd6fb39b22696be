#include "workloads/owner_graph.h"

#include "tests/catch.h"

using namespace tidemark;
using namespace tidemark::workloads;

namespace {
std::string Text(const std::optional<ResolvedOwner>& owner) {
  if (!owner) return "unknown";
  return owner->workload_type + "/" + owner->workload + (owner->assumed ? " (assumed)" : "");
}
}  // namespace

TEST_CASE("chains end at whatever owns the ReplicaSet or the Job", "[workloads][owners]") {
  OwnerGraph graph;
  graph.SetReplicaSetOwner("web-5c9", {"Deployment", "web"}, 1);
  graph.SetReplicaSetOwner("fraud-7d8", {"Rollout", "fraud"}, 2);
  graph.SetReplicaSetOwner("lone", {}, 3);
  graph.SetJobOwner("report-2940", {"CronJob", "report"}, 4);
  graph.SetJobOwner("import", {}, 5);
  const auto resolve = [&](std::string kind, std::string name) {
    return Text(graph.Resolve({std::move(kind), std::move(name)}, "p-0", false));
  };
  CHECK(resolve("ReplicaSet", "web-5c9") == "deployment/web");
  CHECK(resolve("ReplicaSet", "fraud-7d8") == "rollout/fraud");
  CHECK(resolve("ReplicaSet", "lone") == "replicaset/lone");
  CHECK(resolve("Job", "report-2940") == "cronjob/report");
  CHECK(resolve("Job", "import") == "job/import");
  CHECK(resolve("StatefulSet", "db") == "statefulset/db");
  CHECK(resolve("CloneSet", "game") == "cloneset/game");
  CHECK(resolve("Node", "n1") == "staticpod/p-0");
  CHECK(resolve("", "") == "barepod/p-0");
}

TEST_CASE("a missing link is waited for, then assumed", "[workloads][owners]") {
  OwnerGraph graph;
  const Owner replicaset{"ReplicaSet", "web-5c9f7b6d4"};
  CHECK(Text(graph.Resolve(replicaset, "p", false)) == "unknown");
  CHECK(Text(graph.Resolve(replicaset, "p", true)) == "deployment/web (assumed)");
  CHECK(Text(graph.Resolve({"ReplicaSet", "web"}, "p", true)) == "replicaset/web (assumed)");
  CHECK(Text(graph.Resolve({"Job", "j-1"}, "p", false)) == "unknown");
  CHECK(Text(graph.Resolve({"Job", "j-1"}, "p", true)) == "job/j-1 (assumed)");
}

TEST_CASE("an entry goes with the series that still owns it", "[workloads][owners]") {
  OwnerGraph graph;
  graph.SetReplicaSetOwner("web-5c9", {"Deployment", "web"}, 1);
  graph.SetReplicaSetOwner("web-5c9", {"Rollout", "web"}, 2);
  graph.ForgetReplicaSet("web-5c9", 1);
  CHECK(Text(graph.Resolve({"ReplicaSet", "web-5c9"}, "p", false)) == "rollout/web");
  graph.ForgetReplicaSet("web-5c9", 2);
  CHECK(Text(graph.Resolve({"ReplicaSet", "web-5c9"}, "p", false)) == "unknown");
  graph.ForgetJob("never", 9);
}

TEST_CASE("the template hash is cut off only where it looks like one", "[workloads][owners]") {
  CHECK(WithoutTemplateHash("web-5c9f7b6d4") == "web");
  CHECK(WithoutTemplateHash("a-b-c2rtm4jnsz") == "a-b");
  CHECK(WithoutTemplateHash("web-5c9f7b6d4xx").empty());  // 11 characters
  CHECK(WithoutTemplateHash("web-ABC").empty());
  CHECK(WithoutTemplateHash("web-").empty());
  CHECK(WithoutTemplateHash("-abc").empty());
  CHECK(WithoutTemplateHash("web").empty());
}

TEST_CASE("owner labels are read as all versions of kube-state-metrics write them",
          "[workloads][owners]") {
  using Labels = std::vector<LabelView>;
  CHECK(OwnerFrom(Labels{{"owner_kind", "Job"}, {"owner_name", "j"}}) == Owner{"Job", "j"});
  CHECK(OwnerFrom(Labels{{"owner_kind", "<none>"}, {"owner_name", "<none>"}}) == Owner{});
  CHECK(OwnerFrom(Labels{}) == Owner{});
}
