#pragma once
// The cluster behind HTTP: each request moves it to the clock's present and shows it.

#include <mutex>
#include <vector>

#include "cmd/demo_cluster/cluster.h"
#include "cmd/demo_cluster/text_page.h"
#include "model/clock.h"
#include "model/http.h"

namespace tidemark::demo_cluster {

/// Thread-safe. The clock must outlive it; the routes must not be called after its end.
class Service {
 public:
  Service(Cluster cluster, const Clock& clock);

  /// GET / (help), /metrics (everything), /metrics/cadvisor, /metrics/kube-state-metrics.
  std::vector<HttpRoute> Routes();

 private:
  using Append = void (*)(const Cluster&, Page&);
  HttpResponse Render(std::initializer_list<Append> parts);

  const Clock& clock_;
  std::mutex mutex_;  // guards cluster_
  Cluster cluster_;
};

}  // namespace tidemark::demo_cluster
