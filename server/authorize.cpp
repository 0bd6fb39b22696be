#include "server/authorize.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "server/credentials.h"
#include "server/token_file.h"

namespace tidemark::server {
namespace {

bool EqualNoCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

Judgement Judge(const AccessRules& rules, const HttpRequest& request, const HttpRoute* route) {
  using Verdict = Judgement::Verdict;
  using Kind = Credentials::Kind;
  Judgement judgement;
  judgement.wants_token = rules.wants_tokens && route != nullptr && route->wants_bearer_token;
  if (rules.users.empty() && !judgement.wants_token) return judgement;

  judgement.verdict = Verdict::kRefused;
  Credentials credentials = ReadCredentials(request);
  if (judgement.wants_token && credentials.kind == Kind::kBearer) {
    if (HasToken(rules.tokens, credentials.token)) judgement.verdict = Verdict::kAllowed;
  } else if (!rules.users.empty() && credentials.kind == Kind::kBasic) {
    const auto user = rules.users.find(credentials.user);
    const bool known = user != rules.users.end();
    judgement.verdict = Verdict::kAskPassword;
    judgement.claim = {.user = std::move(credentials.user),
                       .password = std::move(credentials.password),
                       .hash = known ? user->second : rules.unknown_user_hash,
                       .known_user = known};
  }
  return judgement;
}

HttpResponse Unauthorized(const AccessRules& rules, bool wants_token) {
  HttpResponse response = HttpResponse::Text(401, "Unauthorized");
  if (wants_token) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  if (!rules.users.empty()) response.headers.push_back({"WWW-Authenticate", "Basic"});
  return response;
}

HttpResponse TooManyRequests() {
  HttpResponse response = HttpResponse::Text(429, "Too Many Requests");
  response.headers.push_back({"Retry-After", "1"});
  return response;
}

void AddHeaders(const std::vector<HttpHeader>& headers, HttpResponse& response) {
  for (const HttpHeader& header : headers) {
    const bool given = std::ranges::any_of(response.headers, [&](const HttpHeader& other) {
      return EqualNoCase(other.name, header.name);
    });
    if (!given) response.headers.push_back(header);
  }
}

}  // namespace tidemark::server
