#pragma once
// Errors as the Kubernetes API gives them: a Status, whose message kubectl and the events of an HPA
// repeat word for word.

#include <string>
#include <string_view>

#include "model/http.h"

namespace tidemark::kubernetes {

/// `application/json` with kind Status, v1. The reason follows from the code: 400 BadRequest, 401
/// Unauthorized, 403 Forbidden, 404 NotFound, 405 MethodNotAllowed, 406 NotAcceptable, 413
/// RequestEntityTooLarge, 429 TooManyRequests, 500 InternalError, 503 ServiceUnavailable, else
/// Unknown. Bytes that are no UTF-8 are replaced. Thread-safe.
///
/// Never with Retry-After: client-go would come back up to ten times within one call of an HPA.
HttpResponse StatusAnswer(unsigned code, std::string_view message);

/// An answer of the server's own (404 without a route, 405, 400, 413, 503) as a Status, without
/// Retry-After; what is JSON already, or no error, is left alone but for Retry-After. For
/// HttpRoute::complete and server::Options::own_answer.
void MakeStatus(HttpResponse& response);

}  // namespace tidemark::kubernetes
