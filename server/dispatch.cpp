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

}  // namespace

HttpResponse CallHandler(const HttpRoute& route, const HttpRequest& request) {
  try {
    return Checked(route, route.handler(request));
  } catch (const std::exception& error) {
    return HandlerFailed(route, error.what());
  } catch (...) {
    return HandlerFailed(route, "unknown exception");
  }
}

std::optional<HttpResponse> CallAdmission(const HttpRoute& route, const HttpRequest& request) {
  if (!route.admission) return std::nullopt;
  try {
    std::optional<HttpResponse> answer = route.admission(request);
    if (answer) answer = Checked(route, std::move(*answer));
    return answer;
  } catch (const std::exception& error) {
    return HandlerFailed(route, error.what());
  } catch (...) {
    return HandlerFailed(route, "unknown exception");
  }
}

HttpResponse CallOverloaded(const HttpRoute& route, const HttpRequest& request,
                            OverloadCause cause) {
  if (!route.overloaded) {
    return Overloaded(cause == OverloadCause::kBytes
                          ? "too many request bodies at a time; send again"
                          : "too many requests at a time; send again");
  }
  try {
    return Checked(route, route.overloaded(request, cause));
  } catch (const std::exception& error) {
    return HandlerFailed(route, error.what());
  } catch (...) {
    return HandlerFailed(route, "unknown exception");
  }
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
