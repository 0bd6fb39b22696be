#pragma once
// The back-fill over HTTP:
//
//   POST   /api/v1/backfill         asks for one; 202 with {state, resumed}, 409 when one runs
//   DELETE /api/v1/backfill         ends the running one; 404 when none runs
//   GET    /api/v1/status/backfill  how far it is
//
// POST wants Content-Type application/json, which no form of another site's page can send. Its
// members: "prometheus" (URL), "start", "end" (Unix seconds or RFC 3339), "step" (seconds),
// "username", "password", "bearer_token", "headers", "external_labels" (objects of texts), "tls"
// {"ca", "cert", "key" (PEM), "server_name", "insecure_skip_verify"}, "restart"; all may be left
// out. None names a file: a caller must not make the daemon read any.

#include <string_view>
#include <vector>

#include "model/backfill.h"
#include "model/http.h"
#include "model/result.h"

namespace tidemark::exporter {

/// `control` must outlive the routes.
std::vector<HttpRoute> BackfillRoutes(BackfillControl& control);

/// kInvalidArgument: names the member, what is wrong and what is allowed; values of secrets do not
/// stand in it.
Result<BackfillRequest> ParseBackfillRequest(std::string_view json);

/// data: {state, url, start, end, step_seconds, progress_ratio, eta_seconds, …}.
HttpResponse BackfillStatusAnswer(const BackfillStatus& status);

}  // namespace tidemark::exporter
