#pragma once
// Calls what a route brings along, and catches what it should not throw.

#include <optional>
#include <string>

#include "model/http.h"

namespace tidemark::server {

/// The handler's answer; 500 when it throws (logged at most once a minute) or gives a status
/// outside 200 to 599.
HttpResponse CallHandler(const HttpRoute& route, const HttpRequest& request);

/// The admission's answer, if it has one; 500 as above.
std::optional<HttpResponse> CallAdmission(const HttpRoute& route, const HttpRequest& request);

/// The route's answer to overload, by default Overloaded(); 500 as above.
HttpResponse CallOverloaded(const HttpRoute& route, const HttpRequest& request,
                            OverloadCause cause);

/// Completes an answer as the route wishes; it becomes a 500 as above.
void CallCompletion(const HttpRoute& route, const HttpRequest& request, HttpResponse& response);

/// An answer of the server itself after which the connection is closed.
HttpResponse ClosingText(unsigned status, std::string text);

/// 503 with Retry-After, after which the connection is closed: the same request may be sent again,
/// soon.
HttpResponse Overloaded(std::string text);

}  // namespace tidemark::server
