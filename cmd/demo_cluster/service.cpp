#include "cmd/demo_cluster/service.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cmd/demo_cluster/pages.h"

namespace tidemark::demo_cluster {
namespace {

std::string Help(const Cluster& cluster) {
  size_t pods = 0;
  for (const Workload& workload : cluster.workloads()) pods += workload.pods.size();
  return fmt::format(
      "A simulated Kubernetes cluster: {} nodes, {} workloads, {} pods.\n\n"
      "/metrics                     everything\n"
      "/metrics/cadvisor            what the kubelets' cAdvisor shows, all nodes together\n"
      "/metrics/kube-state-metrics  what kube-state-metrics shows",
      cluster.nodes().size(), cluster.workloads().size(), pods);
}

}  // namespace

Service::Service(Cluster cluster, const Clock& clock)
    : clock_(clock), cluster_(std::move(cluster)) {}

HttpResponse Service::Render(std::initializer_list<Append> parts) {
  TextPage page;
  {
    const std::scoped_lock lock(mutex_);
    cluster_.AdvanceTo(clock_.Now());
    for (const Append append : parts) append(cluster_, page);
  }
  HttpResponse response;
  response.headers.push_back({"Content-Type", "text/plain; version=0.0.4; charset=utf-8"});
  response.body = page.Take();
  return response;
}

std::vector<HttpRoute> Service::Routes() {
  const auto route = [](std::string path, HttpHandler handler) {
    HttpRoute made;
    made.path = std::move(path);
    made.methods = {"GET"};
    made.handler = std::move(handler);
    return made;
  };
  return {
      route("/",
            [this](const HttpRequest&) {
              const std::scoped_lock lock(mutex_);
              return HttpResponse::Text(200, Help(cluster_));
            }),
      route("/metrics",
            [this](const HttpRequest&) {
              return Render({AppendCadvisorPage, AppendKubeStatePage});
            }),
      route("/metrics/cadvisor",
            [this](const HttpRequest&) { return Render({AppendCadvisorPage}); }),
      route("/metrics/kube-state-metrics",
            [this](const HttpRequest&) { return Render({AppendKubeStatePage}); }),
  };
}

}  // namespace tidemark::demo_cluster
