#pragma once
// A Kubernetes port without a server: its routes over a Snapshot that tests make.

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubernetes/routes.h"
#include "tests/catch.h"
#include "tests/exporter/fakes.h"
#include "tests/exporter/scaling_fakes.h"

namespace tidemark::kubernetes {

/// End of the minute of exporter::WholeScaling and exporter::WholeForecast.
inline constexpr int64_t kMinuteEndMs = 1'700'000'040'000;

class SetClock final : public Clock {
 public:
  TimePoint Now() const override { return FromUnixMs(now_ms); }
  int64_t now_ms = kMinuteEndMs + 5000;
};

class LetsIn final : public Authenticator {
 public:
  tl::expected<Identity, Denied> Authenticate(const HttpRequest& /*request*/) const override {
    if (denied) return tl::unexpected(*denied);
    return Identity{.user = "hpa", .groups = {}, .by_front_proxy = true};
  }
  std::optional<Denied> denied;
};

class Shows final : public SnapshotReader {
 public:
  std::shared_ptr<const Snapshot> Current() const override { return snapshot; }
  std::shared_ptr<Snapshot> snapshot = std::make_shared<Snapshot>();
};

class Port {
 public:
  Port()
      : routes_(Routes({.snapshots = shows,
                        .clock = clock,
                        .authenticator = lets_in,
                        .counters = counters,
                        .settings = [this] { return settings; },
                        .rightsizing = [] { return std::make_shared<const RightsizingSettings>(); },
                        .profiles = [] { return std::make_shared<const ProfileSet>(); },
                        .ready = [this] { return ready; }})) {}

  /// As the server would find the route; `target` may have a query, which is taken as it stands but
  /// for + and %XX.
  HttpResponse Ask(std::string_view target, std::vector<HttpHeader> headers = {},
                   std::string method = "GET") {
    HttpRequest request;
    request.method = std::move(method);
    request.headers = std::move(headers);
    const size_t question = target.find('?');
    request.raw_path = target.substr(0, question);
    request.path = request.raw_path;
    std::string_view query =
        question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
    while (!query.empty()) {
      const size_t end = query.find('&');
      const std::string_view pair = query.substr(0, end);
      query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
      const size_t equals = pair.find('=');
      request.query.emplace_back(pair.substr(0, equals),
                                 equals == std::string_view::npos ? "" : pair.substr(equals + 1));
    }
    const HttpRoute* all = nullptr;
    for (const HttpRoute& route : routes_) {
      if (route.path == "/*") all = &route;
      if (route.path == request.path) return Complete(route, request);
    }
    REQUIRE(all != nullptr);
    return Complete(*all, request);
  }

  /// Of one metric in a namespace, as the HPA asks.
  HttpResponse Metric(std::string_view metric, std::string_view selector,
                      std::string_view name_space = "shop") {
    std::string target = "/apis/external.metrics.k8s.io/v1beta1/namespaces/";
    target.append(name_space).append("/").append(metric).append("?labelSelector=").append(selector);
    return Ask(target, {{"Accept", "application/vnd.kubernetes.protobuf, */*"}});
  }

  uint64_t Count(MetricAnswer answer) const {
    return counters.metric_answers[static_cast<size_t>(answer)].load();
  }

  Shows shows;
  SetClock clock;
  LetsIn lets_in;
  KubernetesCounters counters;
  Settings settings;
  bool ready = true;

 private:
  static HttpResponse Complete(const HttpRoute& route, const HttpRequest& request) {
    HttpResponse response = route.handler(request);
    if (route.complete) route.complete(request, response);
    for (const HttpHeader& header : response.headers) CHECK(header.name != "Retry-After");
    return response;
  }

  std::vector<HttpRoute> routes_;
};

inline boost::json::value Json(const HttpResponse& response) {
  CAPTURE(response.body);
  return boost::json::parse(response.body);
}

/// The message of a Status of this code.
inline std::string StatusMessage(const HttpResponse& response, unsigned code) {
  CAPTURE(response.body);
  CHECK(response.status == code);
  const boost::json::value status = Json(response);
  CHECK(status.at("kind") == "Status");
  CHECK(status.at("status") == "Failure");
  CHECK(status.at("code") == code);
  return std::string(status.at("message").as_string());
}

inline std::string HeaderOf(const HttpResponse& response, std::string_view name) {
  for (const HttpHeader& header : response.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

}  // namespace tidemark::kubernetes
