#pragma once
// A daemon's worth of sources around fakes, and its routes.

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exporter/routes.h"
#include "tests/exporter/fakes.h"

namespace tidemark::exporter {

struct FakeDaemon {
  explicit FakeDaemon(Snapshot snapshot = {}) : snapshots(std::move(snapshot)) {}

  /// Asks the route of `path`; throws when there is none.
  HttpResponse Get(const std::string& path,
                   std::vector<std::pair<std::string, std::string>> query = {},
                   std::vector<HttpHeader> headers = {}) {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.raw_path = path;
    request.query = std::move(query);
    request.headers = std::move(headers);
    for (const HttpRoute& route : routes) {
      const std::string_view pattern = route.path;
      if (route.path == path ||
          (pattern.ends_with("/*") && path.starts_with(pattern.substr(0, pattern.size() - 1)))) {
        return route.handler(request);
      }
    }
    throw std::runtime_error("no route " + path);
  }

  FakeSnapshotReader snapshots;
  FakeStateReader state;
  RemoteWriteCounters remote_write;
  HttpCounters http;
  EngineCounters engine;
  FakeHaStatusReader ha;
  StorageCounters storage;
  TrainingCounters training;
  KubernetesCounters kubernetes;
  HttpCounters kubernetes_http;
  FakeBackfill backfill;
  BackfillCounters backfill_counters;
  ManualClock clock{FromUnixMs(1700000020000)};
  bool ready = true;
  ConfigStatus config_status{.last_reload_successful = true, .last_success_ms = 1700000000250};
  Result<void> reloaded;
  bool vpa_metrics = false;
  Prices prices;
  std::vector<HttpRoute> routes = Routes({snapshots,
                                          state,
                                          remote_write,
                                          http,
                                          engine,
                                          clock,
                                          {"1.2.3", "abcdef", "main", "g++ 12.2.0"},
                                          FromUnixMs(1700000000000),
                                          "/var/lib/tidemark",
                                          [] { return std::string("a: \"b\"\n"); },
                                          [this] { return ready; },
                                          &ha,
                                          &storage,
                                          &backfill,
                                          &backfill_counters,
                                          [this] { return config_status; },
                                          [this] { return reloaded; },
                                          [this] { return vpa_metrics; },
                                          [this] { return prices; },
                                          &training,
                                          &kubernetes,
                                          &kubernetes_http});
};

inline std::string HeaderOf(const HttpResponse& response, std::string_view name) {
  std::string value;
  for (const HttpHeader& header : response.headers) {
    if (header.name == name) value += value.empty() ? header.value : "|" + header.value;
  }
  return value;
}

}  // namespace tidemark::exporter
