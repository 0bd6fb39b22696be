#pragma once
// The routing table: which route a request goes to, or the answer when there is none.

#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "model/http.h"
#include "model/result.h"

namespace tidemark::server {

/// Immutable once made; thread-safe. Routes may share a path and differ in methods. An exact path
/// goes before "/*" patterns, a longer pattern before a shorter one. A lookup walks the table,
/// which has a few dozen entries.
class Router {
 public:
  struct Match {
    const HttpRoute* route = nullptr;  ///< lives as long as the router
    bool head_as_get = false;  ///< HEAD that the route's GET handler answers; the body is left out
  };

  /// Errors (kInvalidArgument) name the route: a path without a leading '/', no method or handler,
  /// a method that is not in upper case, the same path and method twice.
  static Result<Router> Make(std::vector<HttpRoute> routes);

  /// The route, or 404 with what exists, or 405 with Allow.
  tl::expected<Match, HttpResponse> Find(std::string_view method, std::string_view path) const;

 private:
  explicit Router(std::vector<HttpRoute> routes) : routes_(std::move(routes)) {}
  HttpResponse NotFound() const;

  std::vector<HttpRoute> routes_;
};

}  // namespace tidemark::server
