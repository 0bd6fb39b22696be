#include "rightsizing/pod_owner.h"

#include "tests/catch.h"

namespace tidemark::rightsizing {
namespace {

using Owner = std::pair<std::string, std::string>;
using Labels = std::map<std::string, std::string, std::less<>>;

std::optional<Owner> Of(std::string kind, std::string name, const Labels& labels = {}) {
  return WorkloadOf(ControllerReference{std::move(kind), std::move(name)}, labels);
}

TEST_CASE("The workload of a pod follows from its controller and labels", "[rightsizing][owner]") {
  CHECK(Of("ReplicaSet", "web-7d9f8c6b5", {{"pod-template-hash", "7d9f8c6b5"}}) ==
        Owner("deployment", "web"));
  CHECK(Of("ReplicaSet", "web-abc", {{"rollouts-pod-template-hash", "abc"}}) ==
        Owner("rollout", "web"));
  CHECK(Of("ReplicaSet", "web") == Owner("replicaset", "web"));
  CHECK(Of("ReplicaSet", "web-1", {{"pod-template-hash", "2"}}) == Owner("replicaset", "web-1"));
  CHECK(Of("ReplicaSet", "-1", {{"pod-template-hash", "1"}}) == Owner("replicaset", "-1"));
  CHECK(Of("Job", "backup-29012345") == Owner("cronjob", "backup"));
  CHECK(Of("Job", "backup-1600000000") == Owner("cronjob", "backup"));
  CHECK(Of("Job", "import-2024") == Owner("job", "import-2024"));
  CHECK(Of("Job", "import-12345678x") == Owner("job", "import-12345678x"));
  CHECK(Of("Job", "-29012345") == Owner("job", "-29012345"));
  CHECK(Of("StatefulSet", "db") == Owner("statefulset", "db"));
  CHECK(Of("DaemonSet", "agent") == Owner("daemonset", "agent"));
  CHECK(Of("CloneSet", "shop") == Owner("cloneset", "shop"));
}

TEST_CASE("A pod without a controller, or of its node, has no workload", "[rightsizing][owner]") {
  CHECK_FALSE(WorkloadOf(std::nullopt, {}));
  CHECK_FALSE(Of("Node", "node-1"));
  CHECK_FALSE(Of("", "x"));
  CHECK_FALSE(Of("StatefulSet", ""));
}

}  // namespace
}  // namespace tidemark::rightsizing
