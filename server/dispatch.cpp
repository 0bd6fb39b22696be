#include "server/dispatch.h"

#include <exception>
#include <string_view>
#include <utility>

#include "model/log.h"

namespace tidemark::server {
namespace {

HttpResponse HandlerFailed(const HttpRoute& route, std::string_view what) {
  LogOncePerMinute("http_handler_failed", LogLevel::kError, "HTTP handler failed",
                   {{"route", route.path}, {"error", std::string(what)}});
  return HttpResponse::Text(500, "internal error; see the log");
}

HttpResponse Checked(const HttpRoute& route, HttpResponse response) {
  if (response.status >= 200 && response.status <= 599) return response;
  return HandlerFailed(route,
                       "status " + std::to_string(response.status) + " is no final HTTP status");
}

/// What `call` gives; 500 when it throws or what it gives is no answer.
template <class Call>
HttpResponse Guarded(const HttpRoute& route, Call call) {
  try {
    return Checked(route, call());
  } catch (const std::exception& error) {
    return HandlerFailed(route, error.what());
  } catch (...) {
    return HandlerFailed(route, "unknown exception");
  }
}

}  // namespace

HttpResponse CallHandler(const HttpRoute& route, const HttpRequest& request) {
  return Guarded(route, [&] { return route.handler(request); });
}

std::optional<HttpResponse> CallAdmission(const HttpRoute& route, const HttpRequest& request) {
  if (!route.admission) return std::nullopt;
  bool passed = false;
  HttpResponse answer = Guarded(route, [&] {
    std::optional<HttpResponse> given = route.admission(request);
    passed = !given;
    return given ? std::move(*given) : HttpResponse();
  });
  if (passed) return std::nullopt;
  return answer;
}

HttpResponse CallOverloaded(const HttpRoute& route, const HttpRequest& request,
                            OverloadCause cause) {
  if (!route.overloaded) {
    return Overloaded(cause == OverloadCause::kBytes
                          ? "too many request bodies at a time; send again"
                          : "too many requests at a time; send again");
  }
  return Guarded(route, [&] { return route.overloaded(request, cause); });
}

void CallCompletion(const HttpRoute& route, const HttpRequest& request, HttpResponse& response) {
  if (!route.complete) return;
  response = Guarded(route, [&] {
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
