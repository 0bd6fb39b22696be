#include "server/dispatch.h"

#include <exception>
#include <string_view>
#include <utility>

#include "model/log.h"

namespace tidemark::server {
namespace {

HttpResponse HandlerFailed(const HttpRoute& route, std::string_view what, const OwnAnswer& own) {
  LogOncePerMinute("http_handler_failed", LogLevel::kError, "HTTP handler failed",
                   {{"route", route.path}, {"error", std::string(what)}});
  return InOwnForm(own, HttpResponse::Text(500, "internal error; see the log"));
}

/// What `call` gives; 500 when it throws or what it gives is no answer.
template <class Call>
HttpResponse Guarded(const HttpRoute& route, const OwnAnswer& own, Call call) {
  try {
    HttpResponse response = call();
    if (response.status >= 200 && response.status <= 599) return response;
    return HandlerFailed(
        route, "status " + std::to_string(response.status) + " is no final HTTP status", own);
  } catch (const std::exception& error) {
    return HandlerFailed(route, error.what(), own);
  } catch (...) {
    return HandlerFailed(route, "unknown exception", own);
  }
}

}  // namespace

HttpResponse InOwnForm(const OwnAnswer& own, HttpResponse response) {
  if (!own) return response;
  try {
    HttpResponse formed = response;
    own(formed);
    return formed;
  } catch (const std::exception& error) {
    LogOncePerMinute("http_own_answer_failed", LogLevel::kError,
                     "an answer of the HTTP server cannot be given its form",
                     {{"error", error.what()}});
  }
  return response;
}

HttpResponse CallHandler(const HttpRoute& route, const HttpRequest& request, const OwnAnswer& own) {
  return Guarded(route, own, [&] { return route.handler(request); });
}

std::optional<HttpResponse> CallAdmission(const HttpRoute& route, const HttpRequest& request,
                                          const OwnAnswer& own) {
  if (!route.admission) return std::nullopt;
  bool passed = false;
  HttpResponse answer = Guarded(route, own, [&] {
    std::optional<HttpResponse> given = route.admission(request);
    passed = !given;
    return given ? std::move(*given) : HttpResponse();
  });
  if (passed) return std::nullopt;
  return answer;
}

HttpResponse CallOverloaded(const HttpRoute& route, const HttpRequest& request, OverloadCause cause,
                            const OwnAnswer& own) {
  if (!route.overloaded) {
    return InOwnForm(own, Overloaded(cause == OverloadCause::kBytes
                                         ? "too many request bodies at a time; send again"
                                         : "too many requests at a time; send again"));
  }
  return Guarded(route, own, [&] { return route.overloaded(request, cause); });
}

void CallCompletion(const HttpRoute& route, const HttpRequest& request, HttpResponse& response,
                    const OwnAnswer& own) {
  if (!route.complete) return;
  response = Guarded(route, own, [&] {
    route.complete(request, response);
    return std::move(response);
  });
}

HttpResponse ClosingText(unsigned status, std::string text) {
  HttpResponse response = HttpResponse::Text(status, std::move(text));
  response.close = true;
  return response;
}

HttpResponse Overloaded(std::string text) {
  HttpResponse response = ClosingText(503, std::move(text));
  response.headers.push_back({"Retry-After", "5"});
  return response;
}

}  // namespace tidemark::server
