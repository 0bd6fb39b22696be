#pragma once
// Calls what a route brings along, and catches what it should not throw.

#include <optional>
#include <string>

#include "model/http.h"
#include "server/options.h"

namespace tidemark::server {

/// An answer of the server itself, in the form that `own` gives it; unchanged when that throws.
HttpResponse InOwnForm(const OwnAnswer& own, HttpResponse response);

/// The handler's answer; 500 in the server's own form when it throws (logged at most once a minute)
/// or gives a status outside 200 to 599.
HttpResponse CallHandler(const HttpRoute& route, const HttpRequest& request, const OwnAnswer& own);

/// The admission's answer, if it has one; 500 as above.
std::optional<HttpResponse> CallAdmission(const HttpRoute& route, const HttpRequest& request,
                                          const OwnAnswer& own);

/// The route's answer to overload, by default Overloaded() in the server's own form; 500 as above.
HttpResponse CallOverloaded(const HttpRoute& route, const HttpRequest& request, OverloadCause cause,
                            const OwnAnswer& own);

/// Completes an answer as the route wishes; it becomes a 500 as above.
void CallCompletion(const HttpRoute& route, const HttpRequest& request, HttpResponse& response,
                    const OwnAnswer& own);

/// An answer of the server itself after which the connection is closed.
HttpResponse ClosingText(unsigned status, std::string text);

/// 503 with Retry-After, after which the connection is closed: the same request may be sent again,
/// soon.
HttpResponse Overloaded(std::string text);

}  // namespace tidemark::server
