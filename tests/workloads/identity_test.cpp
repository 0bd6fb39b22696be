#include "workloads/identity.h"

#include <algorithm>

#include "tests/catch.h"

using namespace tidemark;
using namespace tidemark::workloads;

namespace {
using Labels = std::vector<LabelView>;

std::string Who(const Source& source, Labels labels) {
  std::sort(labels.begin(), labels.end(), [](auto& a, auto& b) { return a.name < b.name; });
  const auto identity = Identify(source, labels);
  if (!identity) return "nobody";
  std::string text;
  for (const auto part : {identity->cluster, identity->name_space, identity->pod,
                          identity->container, identity->workload}) {
    text.append(part).append("|");
  }
  return text + (identity->from_exported ? "exported" : "");
}

Source Default(std::string_view metric) {
  for (Source& source : DefaultSources()) {
    if (source.metric == metric) return source;
  }
  FAIL("no source " << metric);
  return {};
}
}  // namespace

TEST_CASE("a container's series is known by namespace, pod and container",
          "[workloads][identity]") {
  const Source cpu = Default("container_cpu_usage_seconds_total");
  CHECK(Who(cpu, {{"namespace", "shop"}, {"pod", "web-1"}, {"container", "app"}}) ==
        "|shop|web-1|app||");
  CHECK(Who(cpu, {{"cluster", "eu"}, {"namespace", "shop"}, {"pod", "w"}, {"container", "app"}}) ==
        "eu|shop|w|app||");
  CHECK(Who(cpu, {{"namespace", "shop"}, {"pod_name", "w"}, {"container_name", "app"}}) ==
        "|shop|w|app||");
}

TEST_CASE("pod, sandbox, slice and node rows are nobody's", "[workloads][identity]") {
  const Source cpu = Default("container_cpu_usage_seconds_total");
  CHECK(Who(cpu, {{"namespace", "shop"}, {"pod", "w"}}) == "nobody");
  CHECK(Who(cpu, {{"namespace", "shop"}, {"pod", "w"}, {"container", "POD"}}) == "nobody");
  CHECK(Who(cpu, {{"id", "/kubepods.slice"}}) == "nobody");
  CHECK(Who(cpu, {{"pod", "w"}, {"container", "app"}}) == "nobody");
}

TEST_CASE("exported labels win over those that the scrape attached", "[workloads][identity]") {
  const Source requests = Default("kube_pod_container_resource_requests");
  CHECK(Who(requests, {{"namespace", "monitoring"},
                       {"pod", "ksm-0"},
                       {"container", "ksm"},
                       {"exported_namespace", "shop"},
                       {"exported_pod", "web-1"},
                       {"exported_container", "app"}}) == "|shop|web-1|app||exported");
}

TEST_CASE("processes and replicas are named directly", "[workloads][identity]") {
  CHECK(Who(Default("namedprocess_namegroup_cpu_seconds_total"),
            {{"instance", "host:9256"}, {"groupname", "sshd"}, {"mode", "user"}}) ==
        "|host:9256|||sshd|");
  CHECK(Who(Default("kube_deployment_spec_replicas"),
            {{"namespace", "shop"}, {"deployment", "web"}}) == "|shop|||web|");
  CHECK(Who(Default("kube_deployment_spec_replicas"), {{"namespace", "shop"}}) == "nobody");
  CHECK(Who(Default("kube_node_status_allocatable"), {{"node", "n1"}, {"resource", "cpu"}}) ==
        "||||n1|");
}
