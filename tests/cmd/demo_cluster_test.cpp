#include <signal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cmd/demo_cluster/cluster.h"
#include "cmd/demo_cluster/command.h"
#include "cmd/demo_cluster/pages.h"
#include "cmd/demo_cluster/service.h"
#include "model/log.h"
#include "tests/catch.h"
#include "tests/cmd/exposition_parser.h"

namespace tidemark::demo_cluster {
namespace {

using test::ExposedPage;
using test::ExposedSample;
using test::ParseExposition;

// A Monday at noon UTC, with milliseconds.
constexpr int64_t kStartMs = 1796040000250;

TimePoint After(double seconds) {
  return FromUnixMs(kStartMs + static_cast<int64_t>(seconds * 1000));
}

std::string Text(const Cluster& cluster) {
  TextPage page;
  AppendCadvisorPage(cluster, page);
  AppendKubeStatePage(cluster, page);
  return page.Take();
}

ExposedPage PageAt(Cluster& cluster, double seconds) {
  cluster.AdvanceTo(After(seconds));
  return ParseExposition(Text(cluster));
}

/// kube-state-metrics' part alone, for tests that read many pages.
ExposedPage KubeStateAt(Cluster& cluster, double seconds) {
  cluster.AdvanceTo(After(seconds));
  TextPage page;
  AppendKubeStatePage(cluster, page);
  return ParseExposition(page.Take());
}

std::vector<const ExposedSample*> Named(const ExposedPage& page, const std::string& name) {
  std::vector<const ExposedSample*> found;
  for (const ExposedSample& sample : page.samples) {
    if (sample.name == name) found.push_back(&sample);
  }
  return found;
}

std::string PodKey(const ExposedSample& sample) {
  return sample.Label("namespace") + "/" + sample.Label("pod");
}

using Workloads = std::set<std::tuple<std::string, std::string, std::string>>;

/// (namespace, kind, name) of every pod's topmost owner, by the owner families alone.
Workloads ResolveWorkloads(const ExposedPage& page) {
  std::map<std::string, std::pair<std::string, std::string>> upper;
  for (const char* family : {"kube_replicaset_owner", "kube_job_owner"}) {
    for (const ExposedSample* row : Named(page, family)) {
      upper[row->Label("namespace") + "/" + row->Label("replicaset") + row->Label("job_name")] = {
          row->Label("owner_kind"), row->Label("owner_name")};
    }
  }
  Workloads workloads;
  for (const ExposedSample* row : Named(page, "kube_pod_owner")) {
    std::string kind = row->Label("owner_kind");
    std::string name = row->Label("owner_name");
    if (kind == "ReplicaSet" || kind == "Job") {
      const auto found = upper.find(row->Label("namespace") + "/" + name);
      INFO(row->series);
      REQUIRE(found != upper.end());
      if (!found->second.first.empty()) std::tie(kind, name) = found->second;
    }
    if (kind.empty() || kind == "Node") name = row->Label("pod");
    workloads.emplace(row->Label("namespace"), kind, name);
  }
  return workloads;
}

TEST_CASE("the same seed and time give the same page however often it was read", "[cmd][demo]") {
  Cluster once(1, 20, After(0));
  Cluster often(1, 20, After(0));
  for (int i = 0; i < 2000; ++i) often.AdvanceTo(After(0.3 * i));
  once.AdvanceTo(After(600.5));
  often.AdvanceTo(After(600.5));
  REQUIRE(Text(once) == Text(often));
}

TEST_CASE("an earlier time changes nothing", "[cmd][demo]") {
  Cluster cluster(1, 1, After(0));
  cluster.AdvanceTo(After(60));
  const std::string before = Text(cluster);
  cluster.AdvanceTo(After(30));
  REQUIRE(Text(cluster) == before);
}

TEST_CASE("another seed gives another cluster", "[cmd][demo]") {
  REQUIRE(Text(Cluster(1, 1, After(0))) != Text(Cluster(2, 1, After(0))));
}

TEST_CASE("the page is good exposition text of the promised size", "[cmd][demo]") {
  Cluster cluster(1, 60, After(0));
  for (const double seconds : {0.0, 1.0, 100.0, 1440.0}) {
    const ExposedPage page = PageAt(cluster, seconds);
    CHECK(page.samples.size() >= 2000);
    CHECK(page.samples.size() <= 4500);
    for (const ExposedSample& sample : page.samples) {
      INFO(sample.series);
      REQUIRE(std::isfinite(sample.value));
      REQUIRE(sample.value >= 0);
    }
  }
}

TEST_CASE("every metric that the default sources read from these exporters is there",
          "[cmd][demo]") {
  Cluster cluster(1, 1, After(0));
  const ExposedPage page = PageAt(cluster, 150);
  for (const char* name : {"container_cpu_usage_seconds_total",
                           "container_memory_working_set_bytes",
                           "container_memory_cache",
                           "container_memory_rss",
                           "container_cpu_cfs_periods_total",
                           "container_cpu_cfs_throttled_periods_total",
                           "container_oom_events_total",
                           "kube_pod_container_resource_requests",
                           "kube_pod_container_resource_limits",
                           "kube_pod_container_status_restarts_total",
                           "kube_pod_container_status_last_terminated_reason",
                           "kube_pod_container_status_last_terminated_timestamp",
                           "kube_pod_annotations",
                           "kube_pod_owner",
                           "kube_replicaset_owner",
                           "kube_job_owner",
                           "kube_deployment_spec_replicas",
                           "kube_statefulset_replicas",
                           "kube_replicaset_spec_replicas",
                           "kube_daemonset_status_desired_number_scheduled",
                           "kube_pod_status_ready",
                           "kube_pod_status_phase",
                           "kube_pod_start_time",
                           "kube_pod_status_ready_time",
                           "kube_horizontalpodautoscaler_info",
                           "kube_horizontalpodautoscaler_spec_min_replicas",
                           "kube_horizontalpodautoscaler_spec_max_replicas",
                           "kube_horizontalpodautoscaler_spec_target_metric",
                           "kube_limitrange",
                           "kube_node_status_allocatable",
                           "kube_pod_labels"}) {
    INFO(name);
    CHECK_FALSE(Named(page, name).empty());
  }
}

TEST_CASE("counters never fall within a series", "[cmd][demo]") {
  // Half past a second as well as on it, so that the part of a step is seen too.
  const double speed = GENERATE(1.0, 300.0);
  Cluster cluster(3, speed, After(0));
  std::map<std::string, double> last;
  size_t gone = 0;
  for (int i = 0; i < 50; ++i) {
    const ExposedPage page = PageAt(cluster, 6.5 * i);
    std::map<std::string, double> now;
    for (const ExposedSample& sample : page.samples) {
      if (page.types.at(sample.name) != "counter") continue;
      const auto found = last.find(sample.series);
      if (found != last.end()) {
        INFO(sample.series << " fell from " << found->second << " to " << sample.value);
        REQUIRE(sample.value >= found->second);
      }
      now[sample.series] = sample.value;
    }
    for (const auto& [series, value] : last) gone += now.count(series) == 0 ? 1 : 0;
    last = std::move(now);
  }
  CHECK(gone > 0);  // pods end, and their series with them
}

TEST_CASE("rates stay true at any speed", "[cmd][demo]") {
  for (const double speed : {1.0, 500.0}) {
    Cluster cluster(1, speed, After(0));
    const ExposedPage before = PageAt(cluster, 30);
    const ExposedPage after = PageAt(cluster, 40);
    std::map<std::string, double> roots;
    for (const ExposedSample* row : Named(before, "container_cpu_usage_seconds_total")) {
      if (row->Label("id") == "/") roots[row->Label("node")] = row->value;
    }
    REQUIRE(roots.size() == 6);
    for (const ExposedSample* row : Named(after, "container_cpu_usage_seconds_total")) {
      if (row->Label("id") != "/") continue;
      const double cores = (row->value - roots.at(row->Label("node"))) / 10;
      INFO(row->Label("node") << " uses " << cores);
      CHECK(cores > 0.2);
      CHECK(cores < 12);
    }
  }
}

TEST_CASE("there are over forty workloads and every kind of owner", "[cmd][demo]") {
  Cluster cluster(1, 1, After(0));
  const Workloads workloads = ResolveWorkloads(PageAt(cluster, 0));
  CHECK(workloads.size() >= 44);
  std::set<std::string> kinds;
  std::set<std::string> namespaces;
  for (const auto& [name_space, kind, name] : workloads) {
    kinds.insert(kind);
    namespaces.insert(name_space);
  }
  CHECK(namespaces.size() == 8);
  CHECK(kinds == std::set<std::string>{"", "CloneSet", "CronJob", "DaemonSet", "Deployment", "Job",
                                       "Node", "Rollout", "StatefulSet"});
  // StatefulSets that kube-state-metrics does not know are OpenKruise's.
  std::set<std::string> builtin;
  const ExposedPage page = PageAt(cluster, 0);
  for (const ExposedSample* row : Named(page, "kube_statefulset_replicas")) {
    builtin.insert(row->Label("statefulset"));
  }
  CHECK(std::any_of(workloads.begin(), workloads.end(), [&](const auto& workload) {
    return std::get<1>(workload) == "StatefulSet" && builtin.count(std::get<2>(workload)) == 0;
  }));
}

TEST_CASE("the graph of owners is closed at all times", "[cmd][demo]") {
  const double speed = GENERATE(1.0, 60.0, 1000.0);
  Cluster cluster(5, speed, After(0));
  for (int i = 0; i < 60; ++i) {
    const Workloads workloads = ResolveWorkloads(KubeStateAt(cluster, 11 * i));
    REQUIRE(workloads.size() >= 44);
  }
}

TEST_CASE("all series of a pod name the same uid and node", "[cmd][demo]") {
  Cluster cluster(1, 60, After(0));
  for (const double seconds : {0.0, 200.0, 400.0}) {
    const ExposedPage page = PageAt(cluster, seconds);
    std::map<std::string, std::string> uids;
    for (const ExposedSample* row : Named(page, "kube_pod_owner")) {
      REQUIRE(uids.emplace(PodKey(*row), row->Label("uid")).second);
    }
    std::map<std::string, std::string> nodes;
    for (const ExposedSample& sample : page.samples) {
      if (sample.Label("pod").empty()) continue;
      INFO(sample.series);
      REQUIRE(uids.count(PodKey(sample)) == 1);
      if (sample.labels.count("uid") == 1) REQUIRE(sample.Label("uid") == uids.at(PodKey(sample)));
      if (sample.labels.count("id") == 1) {
        std::string uid = uids.at(PodKey(sample));
        const bool dashes = sample.Label("id").find(uid) != std::string::npos;
        std::replace(uid.begin(), uid.end(), '-', '_');
        REQUIRE((dashes || sample.Label("id").find(uid) != std::string::npos));
      }
      if (sample.labels.count("node") == 1) {
        const auto [known, fresh] = nodes.emplace(PodKey(sample), sample.Label("node"));
        REQUIRE(known->second == sample.Label("node"));
      }
    }
  }
}

TEST_CASE("docker nodes show POD containers and containerd nodes nameless sandboxes",
          "[cmd][demo]") {
  Cluster cluster(1, 1, After(0));
  const ExposedPage page = PageAt(cluster, 0);
  size_t docker = 0;
  size_t containerd = 0;
  size_t containers = 0;
  for (const ExposedSample* row : Named(page, "container_cpu_usage_seconds_total")) {
    REQUIRE(row->Label("cpu") == "total");
    if (row->Label("container") == "POD") {
      CHECK(row->Label("name").rfind("k8s_POD_", 0) == 0);
      ++docker;
    } else if (row->Label("container").empty() && !row->Label("image").empty()) {
      CHECK(row->Label("id").find("cri-containerd-" + row->Label("name")) != std::string::npos);
      ++containerd;
    } else if (!row->Label("container").empty()) {
      ++containers;
    }
  }
  CHECK(docker > 10);
  CHECK(containerd > 10);
  CHECK(containers > 100);
}

TEST_CASE("memory that leaks ends in an OOM kill within a simulated day", "[cmd][demo]") {
  const DemoClusterOptions defaults;
  Cluster cluster(defaults.seed, 60, After(0));
  const auto restarts = [](const ExposedPage& page) {
    std::map<std::string, double> counts;
    for (const ExposedSample* row : Named(page, "kube_pod_container_status_restarts_total")) {
      counts[PodKey(*row) + "/" + row->Label("container")] = row->value;
    }
    return counts;
  };
  const auto ids = [](const ExposedPage& page) {
    std::map<std::string, std::string> found;
    for (const ExposedSample* row : Named(page, "container_memory_working_set_bytes")) {
      if (row->Label("container").empty()) continue;
      found[PodKey(*row) + "/" + row->Label("container")] = row->Label("id");
    }
    return found;
  };
  ExposedPage before = PageAt(cluster, 0);
  size_t kills = 0;
  for (int step = 1; step <= 48; ++step) {
    const double seconds = 30.0 * step;
    ExposedPage after = PageAt(cluster, seconds);
    const auto old_counts = restarts(before);
    const auto old_ids = ids(before);
    const auto new_ids = ids(after);
    std::map<std::string, double> times;
    for (const ExposedSample* row :
         Named(after, "kube_pod_container_status_last_terminated_timestamp")) {
      times[PodKey(*row) + "/" + row->Label("container")] = row->value;
    }
    const auto new_counts = restarts(after);
    for (const ExposedSample* row :
         Named(after, "kube_pod_container_status_last_terminated_reason")) {
      const std::string key = PodKey(*row) + "/" + row->Label("container");
      if (old_counts.count(key) == 0 || new_counts.at(key) == old_counts.at(key)) continue;
      if (row->Label("reason") != "OOMKilled") continue;
      ++kills;
      INFO(key);
      CHECK(new_counts.at(key) == old_counts.at(key) + 1);
      CHECK(old_ids.at(key) != new_ids.at(key));
      const double now = static_cast<double>(kStartMs) / 1000 + seconds;
      CHECK(times.at(key) <= now);
      CHECK(times.at(key) >= now - 31);
    }
    before = std::move(after);
  }
  CHECK(kills >= 3);
}

TEST_CASE("a short demo at normal speed sees a kill, a new version and a change of replicas",
          "[cmd][demo]") {
  const DemoClusterOptions defaults;
  Cluster cluster(defaults.seed, defaults.speed, After(0));
  const ExposedPage before = PageAt(cluster, 0);
  const ExposedPage after = PageAt(cluster, 150);
  const auto count = [](const ExposedPage& page, const char* name) {
    return Named(page, name).size();
  };
  CHECK(count(after, "kube_replicaset_owner") == count(before, "kube_replicaset_owner") + 1);
  const auto sum = [](const ExposedPage& page, const char* name) {
    double total = 0;
    for (const ExposedSample* row : Named(page, name)) total += row->value;
    return total;
  };
  CHECK(sum(after, "kube_pod_container_status_restarts_total") >
        sum(before, "kube_pod_container_status_restarts_total"));
  std::set<double> search;
  for (int i = 0; i < 40; ++i) {
    const ExposedPage page = KubeStateAt(cluster, 150 + 30 * i);
    for (const ExposedSample* row : Named(page, "kube_deployment_spec_replicas")) {
      if (row->Label("deployment") == "search") search.insert(row->value);
    }
  }
  CHECK(search == std::set<double>{2, 3, 4, 5});
}

TEST_CASE("CronJobs run from the start, long enough, and keep three completed pods",
          "[cmd][demo]") {
  Cluster cluster(1, 1, After(0));
  std::map<std::string, double> seen_s;    // how long a batch pod was running
  std::map<std::string, int> now_running;  // of the first minute
  constexpr int kPeriodS = 5;
  for (int i = 0; i < 300; ++i) {
    const ExposedPage page = KubeStateAt(cluster, kPeriodS * i + 2);
    std::map<std::string, std::string> jobs;  // pod → CronJob
    for (const ExposedSample* row : Named(page, "kube_pod_owner")) {
      if (row->Label("owner_kind") != "Job") continue;
      const std::string job = row->Label("owner_name");
      jobs[row->Label("pod")] = job.substr(0, job.rfind('-'));
    }
    std::map<std::string, int> succeeded;
    for (const ExposedSample* row : Named(page, "kube_pod_status_phase")) {
      if (row->value != 1 || jobs.count(row->Label("pod")) == 0) continue;
      if (row->Label("phase") == "Succeeded") ++succeeded[jobs.at(row->Label("pod"))];
      if (row->Label("phase") == "Running") {
        seen_s[row->Label("pod")] += kPeriodS;
        if (i == 0) ++now_running[jobs.at(row->Label("pod"))];
      }
    }
    for (const auto& [job, pods] : succeeded) {
      INFO(job);
      REQUIRE(pods <= 3);
    }
  }
  CHECK(now_running.size() == 8);
  CHECK(seen_s.size() >= 20);
  size_t short_runs = 0;
  for (const auto& [pod, seconds] : seen_s) short_runs += seconds < 85 ? 1 : 0;
  CHECK(short_runs <= 8);  // those that have not ended yet
}

TEST_CASE("the nodes are never asked for more than they have", "[cmd][demo]") {
  Cluster cluster(1, 200, After(0));
  for (int i = 0; i < 50; ++i) {
    cluster.AdvanceTo(After(20 * i));
    for (const Node& node : cluster.nodes()) {
      REQUIRE(node.requested_cores > 0);
      REQUIRE(node.requested_cores <= node.spec.cores - 0.1);
    }
  }
}

TEST_CASE("the service moves the cluster by its clock and serves the parts of the whole",
          "[cmd][demo]") {
  ManualClock clock(After(0));
  Service service(Cluster(1, 1, clock.Now()), clock);
  std::map<std::string, HttpHandler> handlers;
  for (const HttpRoute& route : service.Routes()) handlers[route.path] = route.handler;
  const auto get = [&](const std::string& path) { return handlers.at(path)(HttpRequest{}); };
  const HttpResponse first = get("/metrics");
  CHECK(first.status == 200);
  REQUIRE(first.headers.size() == 1);
  CHECK(first.headers[0].value == "text/plain; version=0.0.4; charset=utf-8");
  clock.Set(After(5));
  const HttpResponse all = get("/metrics");
  CHECK(all.body != first.body);
  CHECK(all.body == get("/metrics/cadvisor").body + get("/metrics/kube-state-metrics").body);
  CHECK(get("/").body.find("/metrics/cadvisor") != std::string::npos);
}

TEST_CASE("a label value is escaped and a number keeps its digits", "[cmd][demo]") {
  TextPage page;
  page.Family("x", "gauge", "Help.");
  page.Row({{"a", "q\"b\\n\n"}}, 123456789012.0);
  page.Row({{"a", "b"}}, 0.1);
  REQUIRE(page.Take() ==
          "# HELP x Help.\n# TYPE x gauge\nx{a=\"q\\\"b\\\\n\\n\"} 123456789012\nx{a=\"b\"} 0.1\n");
}

TEST_CASE("a speed that makes no sense is refused", "[cmd][demo]") {
  std::string log;
  SetLogSink([&](std::string_view line) { log.append(line); });
  DemoClusterOptions options;
  options.listen_address = "127.0.0.1:0";
  for (const double speed : {0.0, -1.0, 1000.5, std::numeric_limits<double>::quiet_NaN()}) {
    log.clear();
    options.speed = speed;
    CHECK(RunDemoCluster(options) == 2);
    CHECK(log.find("at most 1000") != std::string::npos);
  }
  SetLogSink({});
}

TEST_CASE("the command serves until SIGTERM and says its real port", "[cmd][demo]") {
  std::string log;
  SetLogSink([&](std::string_view line) {
    log.append(line);
    // Held back by the command, so that it ends it as soon as it waits.
    if (line.find("demo cluster listening") != std::string_view::npos) raise(SIGTERM);
  });
  DemoClusterOptions options;
  options.listen_address = "127.0.0.1:0";
  CHECK(RunDemoCluster(options) == 0);
  SetLogSink({});
  CHECK(log.find("address=127.0.0.1:") != std::string::npos);
  CHECK(log.find("address=127.0.0.1:0") == std::string::npos);
}

}  // namespace
}  // namespace tidemark::demo_cluster
