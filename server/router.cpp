#include "server/router.h"

#include <algorithm>
#include <limits>
#include <string>

namespace tidemark::server {
namespace {

/// How well a route's path fits: 0 = not at all, more = better, the most = exactly.
size_t Fit(std::string_view pattern, std::string_view path) {
  if (pattern == path) return std::numeric_limits<size_t>::max();
  if (!pattern.ends_with("/*")) return 0;
  const std::string_view prefix = pattern.substr(0, pattern.size() - 1);
  return path.starts_with(prefix) ? prefix.size() : 0;
}

bool Allows(const HttpRoute& route, std::string_view method) {
  return std::ranges::find(route.methods, method) != route.methods.end();
}

tl::unexpected<Error> Bad(const HttpRoute& route, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "route \"" + route.path + "\": " + std::string(why));
}

}  // namespace

Result<Router> Router::Make(std::vector<HttpRoute> routes) {
  for (size_t i = 0; i < routes.size(); ++i) {
    const HttpRoute& route = routes[i];
    if (!route.path.starts_with('/')) return Bad(route, "the path must begin with /");
    if (!route.handler) return Bad(route, "there is no handler");
    if (route.methods.empty()) return Bad(route, "there is no method");
    for (const std::string& method : route.methods) {
      if (method.empty() ||
          !std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; })) {
        return Bad(route, "method \"" + method + "\" is not in upper case letters");
      }
      const auto before = routes.begin() + static_cast<ptrdiff_t>(i);
      if (std::any_of(routes.begin(), before, [&](const HttpRoute& other) {
            return other.path == route.path && Allows(other, method);
          })) {
        return Bad(route, "method " + method + " is given twice");
      }
    }
  }
  return Router(std::move(routes));
}

tl::expected<Router::Match, HttpResponse> Router::Find(std::string_view method,
                                                       std::string_view path) const {
  size_t best = 0;
  std::string_view best_path;
  for (const HttpRoute& route : routes_) {
    if (const size_t fit = Fit(route.path, path); fit > best) {
      best = fit;
      best_path = route.path;
    }
  }
  if (best == 0) return tl::unexpected<HttpResponse>(NotFound());

  const HttpRoute* get_route = nullptr;
  std::vector<std::string_view> allowed;
  for (const HttpRoute& route : routes_) {
    if (route.path != best_path) continue;
    if (Allows(route, method)) return Match{&route, false};
    if (Allows(route, "GET")) get_route = &route;
    allowed.insert(allowed.end(), route.methods.begin(), route.methods.end());
  }
  if (get_route != nullptr) {
    if (method == "HEAD") return Match{get_route, true};
    if (std::ranges::find(allowed, "HEAD") == allowed.end()) allowed.push_back("HEAD");
  }

  std::string allow;
  for (const std::string_view name : allowed) {
    if (!allow.empty()) allow += ", ";
    allow += name;
  }
  HttpResponse response = HttpResponse::Text(405, "method not allowed here; allowed: " + allow);
  response.headers.push_back({"Allow", std::move(allow)});
  return tl::unexpected<HttpResponse>(std::move(response));
}

HttpResponse Router::NotFound() const {
  std::string text = "no such path; there are";
  std::string_view separator = " ";
  std::string_view last;
  for (const HttpRoute& route : routes_) {
    if (route.path == last) continue;  // routes that share a path stand together in most tables
    last = route.path;
    text.append(separator).append(route.path);
    separator = ", ";
  }
  return HttpResponse::Text(404, std::move(text));
}

}  // namespace tidemark::server
