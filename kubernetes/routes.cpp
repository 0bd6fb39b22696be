#include "kubernetes/routes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kubernetes/accept.h"
#include "kubernetes/admission.h"
#include "kubernetes/discovery.h"
#include "kubernetes/external_metrics.h"
#include "kubernetes/metric_catalogue.h"
#include "kubernetes/status.h"
#include "model/quoted.h"

namespace tidemark::kubernetes {
namespace {

using Segments = std::vector<std::string>;

/// A duration as Go's time.ParseDuration takes it: `32s`, `1m30s`, `1.5h`, `0`.
bool IsGoDuration(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return true;
  if (text.empty()) return false;
  const auto is_number = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  while (!text.empty()) {
    const size_t number =
        static_cast<size_t>(std::ranges::find_if_not(text, is_number) - text.begin());
    const bool has_digit =
        std::ranges::any_of(text.substr(0, number), [](char c) { return c != '.'; });
    if (!has_digit || std::ranges::count(text.substr(0, number), '.') > 1) return false;
    text.remove_prefix(number);
    const size_t unit = static_cast<size_t>(std::ranges::find_if(text, is_number) - text.begin());
    constexpr std::array<std::string_view, 8> kUnits = {"ns", "us", "\xC2\xB5s", "\xCE\xBCs",
                                                        "ms", "s",  "m",         "h"};
    if (std::ranges::find(kUnits, text.substr(0, unit)) == kUnits.end()) return false;
    text.remove_prefix(unit);
  }
  return true;
}

bool IsTrue(std::string_view text) { return text == "1" || text == "true" || text == "True"; }

HttpResponse NoSuchPath(const HttpRequest& request) {
  return StatusAnswer(
      404, "the server could not find the requested resource: " + QuotedText(request.path) +
               " is none of Tidemark's; " + std::string(kGroupVersion) + " is under /apis");
}

/// GET of anything but probes and the webhook, once it is known who asks.
class Api {
 public:
  explicit Api(const Sources& sources) : sources_(sources) {}

  HttpResponse Answer(const HttpRequest& request) const {
    const auto identity = sources_.authenticator.Authenticate(request);
    if (!identity) {
      ++sources_.counters.denials[static_cast<size_t>(identity.error().why)];
      return StatusAnswer(401, identity.error().message);
    }
    if (request.method != "GET" && request.method != "HEAD") return NotAllowed(request);
    const auto timeout = request.Query("timeout");
    if (timeout && !IsGoDuration(*timeout)) {
      return StatusAnswer(400, "invalid timeout specified in the request URL: " +
                                   QuotedText(*timeout) + ", allowed: a duration such as 32s");
    }
    Segments segments = request.PathSegments();
    if (segments.size() > 1 && segments.back().empty()) segments.pop_back();
    return Find(request, segments);
  }

 private:
  static HttpResponse NotAllowed(const HttpRequest& request) {
    HttpResponse response = StatusAnswer(
        405, request.method + " is not supported: there is nothing to be changed here");
    response.headers.push_back({"Allow", "GET, HEAD"});
    return response;
  }

  HttpResponse Find(const HttpRequest& request, const Segments& segments) const {
    if (segments.empty() || segments[0] != "apis") return NoSuchPath(request);
    if (segments.size() == 1) return Groups(request);
    if (segments[1] != kGroup) return NoSuchPath(request);
    if (segments.size() == 2) return Json(request, GroupAnswer);
    if (segments[2] != kVersion) return NoSuchPath(request);
    const std::vector<std::string> rest(segments.begin() + 3, segments.end());
    if (rest.empty()) return Json(request, ResourcesAnswer);
    // kubectl get --all-namespaces asks without one.
    if (rest.size() == 1 && rest[0] != "namespaces") return Metric(request, "", rest[0]);
    if (rest.size() == 3 && rest[0] == "namespaces") return Metric(request, rest[1], rest[2]);
    if (rest.size() == 4 && rest[0] == "namespaces" && MetricNamed(rest[2])) {
      return StatusAnswer(404, "values are not asked for by name; select one: kubectl get " +
                                   rest[2] + " -n " + rest[1] + " -l workload=" + rest[3]);
    }
    return NoSuchPath(request);
  }

  static HttpResponse Groups(const HttpRequest& request) {
    const auto form = AcceptedDiscoveryForm(request.Header("Accept"));
    return form ? GroupsAnswer(request, *form) : NotAcceptable();
  }
  static HttpResponse Json(const HttpRequest& request, HttpResponse (*answer)()) {
    return AcceptsJson(request.Header("Accept")) ? answer() : NotAcceptable();
  }
  static HttpResponse NotAcceptable() {
    return StatusAnswer(406, "only application/json can be sent");
  }

  HttpResponse Metric(const HttpRequest& request, std::string_view name_space,
                      std::string_view metric) const {
    if (IsTrue(request.Query("watch").value_or(""))) {
      return StatusAnswer(405, "values cannot be watched; ask again");
    }
    return ExternalMetricAnswer(sources_, request, name_space, metric);
  }

  const Sources sources_;
};

HttpRoute RouteOf(std::string path, std::vector<std::string> methods, HttpHandler handler) {
  HttpRoute route;
  route.path = std::move(path);
  route.methods = std::move(methods);
  route.handler = std::move(handler);
  // Bodies are not looked at; kubectl sends one with a DELETE.
  route.max_body_bytes = 1 << 16;
  return route;
}

}  // namespace

std::vector<HttpRoute> Routes(const Sources& sources) {
  const auto api = std::make_shared<const Api>(sources);
  const auto answer = [api](const HttpRequest& request) { return api->Answer(request); };
  std::vector<HttpRoute> routes;
  // Whether discovery can be served, and that it always can: an APIService that is not available
  // for want of data would hold up the cluster.
  for (const char* const probe : {"/healthz", "/livez", "/readyz"}) {
    routes.push_back(
        RouteOf(probe, {"GET"}, [](const HttpRequest&) { return HttpResponse::Text(200, "ok"); }));
  }
  routes.push_back(
      RouteOf("/version", {"GET"}, [](const HttpRequest&) { return VersionAnswer(); }));
  routes.push_back(AdmissionRoute(sources));
  // HEAD is the server's: it answers as GET does, without the body.
  const std::vector<std::string> all = {"GET",    "POST",    "PUT",  "PATCH",
                                        "DELETE", "OPTIONS", "TRACE"};
  routes.push_back(RouteOf("/*", all, answer));
  for (HttpRoute& route : routes) {
    route.complete = [](const HttpRequest&, HttpResponse& response) { MakeStatus(response); };
  }
  return routes;
}

}  // namespace tidemark::kubernetes
