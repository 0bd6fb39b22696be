#include "exporter/routes.h"

#include <chrono>
#include <memory>
#include <semaphore>
#include <utility>

#include "exporter/api.h"
#include "exporter/backfill_api.h"
#include "exporter/backfill_metrics.h"
#include "exporter/config_metrics.h"
#include "exporter/content_negotiation.h"
#include "exporter/daemon_metrics.h"
#include "exporter/exposition.h"
#include "exporter/forecast_metrics.h"
#include "exporter/ha_metrics.h"
#include "exporter/kubernetes_metrics.h"
#include "exporter/namespace_metrics.h"
#include "exporter/process_stats.h"
#include "exporter/recommendation_metrics.h"
#include "exporter/rightsize_api.h"
#include "exporter/scaling_json.h"
#include "exporter/scaling_metrics.h"
#include "exporter/storage_metrics.h"
#include "exporter/training_metrics.h"
#include "exporter/vpa_metrics.h"
#include "exporter/workload_api.h"
#include "rightsizing/manifest.h"

namespace tidemark::exporter {
namespace {

constexpr std::string_view kLandingPage = R"(<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Tidemark</title></head>
<body>
<h1>Tidemark</h1>
<p>What workloads should request, and how many replicas they need, from what they have used.</p>
<ul>
<li><a href="metrics">Metrics</a></li>
<li><a href="api/v1/recommendations">Recommendations</a>; how one workload's came about:
<code>api/v1/workloads/NAMESPACE/TYPE/NAME</code>, e.g. <code>api/v1/workloads/shop/deployment/web</code></li>
<li><a href="api/v1/scaling">Target replicas</a></li>
<li><a href="api/v1/status/sources">Sources: what has come in and what is missing</a></li>
<li><a href="api/v1/status/backfill">Back-fill</a></li>
<li><a href="api/v1/status/runtimeinfo">Run-time information</a></li>
<li><a href="api/v1/status/buildinfo">Build information</a></li>
<li><a href="api/v1/status/config">Configuration</a></li>
<li><a href="-/healthy">Health</a></li>
<li><a href="-/ready">Readiness</a></li>
</ul>
</body>
</html>
)";

struct Exporter {
  explicit Exporter(Sources given) : sources(std::move(given)) {}

  HttpResponse Metrics(const HttpRequest& request) {
    const ExpositionFormat format = NegotiateFormat(JoinHeaders(request, "Accept"));
    const std::shared_ptr<const Snapshot> snapshot = sources.snapshots.Current();
    HttpResponse response;
    response.headers.push_back({"Content-Type", std::string(ContentType(format))});
    response.headers.push_back({"Vary", "Accept"});
    ExpositionWriter writer(format, response.body);
    recommendations.Append(*snapshot, writer);
    namespaces.Append(*snapshot, PricesNow(), writer);
    forecasts.Append(*snapshot, writer);
    scaling.Append(*snapshot, writer);
    if (sources.vpa_metrics && sources.vpa_metrics()) {
      vpa.Append(*snapshot, writer);
    } else {
      vpa.Clear();
    }
    AppendDaemonMetrics(sources.remote_write, sources.http, sources.engine, *snapshot,
                        sources.build, ReadProcessStats(), writer);
    if (sources.config_status) AppendConfigMetrics(sources.config_status(), writer);
    if (sources.training != nullptr) AppendTrainingMetrics(*sources.training, writer);
    if (sources.kubernetes != nullptr && sources.kubernetes_http != nullptr) {
      AppendKubernetesMetrics(*sources.kubernetes, *sources.kubernetes_http, writer);
    }
    if (sources.storage != nullptr) AppendStorageMetrics(*sources.storage, writer);
    if (sources.ha != nullptr) AppendHaMetrics(sources.ha->HaClusters(), writer);
    if (sources.backfill != nullptr) {
      AppendBackfillMetrics(sources.backfill->Status(), *sources.backfill_counters, writer);
    }
    writer.Finish();
    return response;
  }

  HttpResponse Ready() const {
    return sources.ready() ? HttpResponse::Text(200, "Tidemark is Ready.")
                           : HttpResponse::Text(503, "Tidemark is not ready.");
  }

  HttpResponse Recommendations(const HttpRequest& request) const {
    if (!sources.ready()) return NotReady();
    return RecommendationsAnswer(*sources.snapshots.Current(), PricesNow(), request);
  }

  HttpResponse Scaling(const HttpRequest& request) const {
    if (!sources.ready()) return NotReady();
    return ScalingAnswer(*sources.snapshots.Current(), request);
  }

  HttpResponse Rightsize(const HttpRequest& request) {
    if (!sources.ready()) return NotReady();
    // A large manifest takes seconds and much memory: who posts many at once must not take workers
    // and memory from those who send samples.
    constexpr std::chrono::milliseconds kPatience{500};
    if (!rightsizing_.try_acquire_for(kPatience)) {
      HttpResponse busy = ErrorAnswer(
          {ErrorCode::kUnavailable, "other manifests are being right-sized; post it again"});
      busy.headers.push_back({"Retry-After", "1"});
      return busy;
    }
    HttpResponse response = RightsizeAnswer(*sources.snapshots.Current(), *sources.profiles(),
                                            *sources.rightsizing(), request);
    rightsizing_.release();
    return response;
  }

  HttpResponse Workload(const HttpRequest& request) const {
    if (!sources.ready()) return NotReady();
    return WorkloadAnswer(*sources.snapshots.Current(), sources.state, request);
  }

  HttpResponse SourcesStatus(const HttpRequest& request) const {
    if (!sources.ready()) return NotReady();
    return SourcesAnswer(*sources.snapshots.Current(), sources.state, request);
  }

  HttpResponse Runtime() const {
    return RuntimeInfoAnswer({sources.started, sources.clock.Now(), sources.storage_path},
                             sources.engine, *sources.snapshots.Current());
  }

  HttpResponse Reload() const {
    const Result<void> done = sources.reload();
    if (done) return {};
    const bool passing = done.error().code == ErrorCode::kUnavailable;
    return HttpResponse::Text(passing ? 503 : 500,
                              "failed to reload config: " + done.error().message);
  }

  Prices PricesNow() const { return sources.prices ? sources.prices() : Prices{}; }

  static HttpResponse NotReady() {
    return ErrorAnswer({ErrorCode::kUnavailable,
                        "Tidemark is not ready: it is recovering its state, or stopping"});
  }

  Sources sources;
  RecommendationMetrics recommendations;
  NamespaceMetrics namespaces;
  ForecastMetrics forecasts;
  ScalingMetrics scaling;
  VpaMetrics vpa;
  std::counting_semaphore<2> rightsizing_{2};
};

HttpResponse LandingPage() {
  HttpResponse response;
  response.headers.push_back({"Content-Type", "text/html; charset=utf-8"});
  response.body = kLandingPage;
  return response;
}

HttpRoute Get(std::string path, HttpHandler handler) {
  HttpRoute route;
  route.path = std::move(path);
  route.methods = {"GET"};
  route.handler = std::move(handler);
  route.max_body_bytes = 0;
  return route;
}

HttpRoute GetCompressed(std::string path, HttpHandler handler) {
  return Get(std::move(path), [handler = std::move(handler)](const HttpRequest& request) {
    HttpResponse response = handler(request);
    CompressIfAccepted(request, response);
    return response;
  });
}

}  // namespace

std::vector<HttpRoute> Routes(Sources sources) {
  const auto exporter = std::make_shared<Exporter>(std::move(sources));
  using Request = const HttpRequest&;
  std::vector<HttpRoute> routes = {
      Get("/", [](Request) { return LandingPage(); }),
      Get("/-/healthy", [](Request) { return HttpResponse::Text(200, "Tidemark is Healthy."); }),
      Get("/-/ready", [exporter](Request) { return exporter->Ready(); }),
      GetCompressed("/metrics", [exporter](Request request) { return exporter->Metrics(request); }),
      GetCompressed("/api/v1/recommendations",
                    [exporter](Request request) { return exporter->Recommendations(request); }),
      GetCompressed(kScalingPath,
                    [exporter](Request request) { return exporter->Scaling(request); }),
      GetCompressed(kWorkloadPath,
                    [exporter](Request request) { return exporter->Workload(request); }),
      GetCompressed("/api/v1/status/sources",
                    [exporter](Request request) { return exporter->SourcesStatus(request); }),
      GetCompressed("/api/v1/status/buildinfo",
                    [exporter](Request) { return BuildInfoAnswer(exporter->sources.build); }),
      GetCompressed("/api/v1/status/config",
                    [exporter](Request) { return ConfigAnswer(exporter->sources.config_yaml()); }),
      GetCompressed("/api/v1/status/runtimeinfo",
                    [exporter](Request) { return exporter->Runtime(); }),
  };
  if (BackfillControl* const backfill = exporter->sources.backfill; backfill != nullptr) {
    for (HttpRoute& route : BackfillRoutes(*backfill)) routes.push_back(std::move(route));
  }
  if (exporter->sources.profiles && exporter->sources.rightsizing) {
    HttpRoute rightsize =
        Get(kRightsizePath, [exporter](Request request) { return exporter->Rightsize(request); });
    rightsize.methods = {"POST"};
    rightsize.max_body_bytes = rightsizing::kMaxManifestBytes;
    routes.push_back(std::move(rightsize));
  }
  if (exporter->sources.reload) {
    HttpRoute reload = Get("/-/reload", [exporter](Request) { return exporter->Reload(); });
    reload.methods = {"POST", "PUT"};
    reload.max_body_bytes = 1 << 16;  // not looked at
    routes.push_back(std::move(reload));
  }
  return routes;
}

}  // namespace tidemark::exporter
