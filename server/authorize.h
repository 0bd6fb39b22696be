#pragma once
// Whether a request may pass, by its headers alone.

#include <cstdint>
#include <optional>

#include "model/http.h"
#include "server/access.h"
#include "server/password_verifier.h"

namespace tidemark::server {

struct Judgement {
  enum class Verdict : uint8_t {
    kAllowed,
    kRefused,
    kAskPassword,  ///< it depends on whether `claim` is true
  };
  Verdict verdict = Verdict::kAllowed;
  bool wants_token = false;  ///< for Unauthorized
  PasswordClaim claim;
};

/// `route` is null when there is none for the request: that is told only to those who may know.
///
/// A route that wants a bearer token takes one, or a user's password where there are users. All
/// else takes a user's password where there are users. Stateless, thread-safe; takes as long for
/// an unknown user and an unknown token as for known ones.
Judgement Judge(const AccessRules& rules, const HttpRequest& request, const HttpRoute* route);

/// 401 with what would be taken. The connection goes on if no body is under way.
HttpResponse Unauthorized(const AccessRules& rules, bool wants_token);

/// 429: the request is over the rate limit of the web configuration.
HttpResponse TooManyRequests();

/// Adds those of `headers` whose names the answer does not have yet.
void AddHeaders(const std::vector<HttpHeader>& headers, HttpResponse& response);

}  // namespace tidemark::server
