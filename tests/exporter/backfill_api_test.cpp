// The back-fill's routes and times.

#include "exporter/backfill_api.h"

#include <boost/json/parse.hpp>

#include "model/rfc3339.h"
#include "tests/catch.h"
#include "tests/exporter/fakes.h"

namespace tidemark::exporter {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct Routes {
  FakeBackfill control;
  std::vector<HttpRoute> routes = BackfillRoutes(control);

  HttpResponse Ask(const std::string& method, const std::string& path, const std::string& body = "",
                   const std::string& type = "application/json; charset=utf-8") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.headers = {{"Content-Type", type}};
    for (const HttpRoute& route : routes) {
      const bool allowed =
          std::find(route.methods.begin(), route.methods.end(), method) != route.methods.end();
      if (route.path == path && allowed) return route.handler(request);
    }
    return HttpResponse::Text(405, "");
  }
  HttpResponse Post(const std::string& body) { return Ask("POST", "/api/v1/backfill", body); }
};

}  // namespace

TEST_CASE("a request is read in full", "[exporter][backfill]") {
  const auto request = ParseBackfillRequest(
      R"({"prometheus":"http://p","start":"2023-11-14T22:13:20Z","end":1700003600.5,"step":60,)"
      R"("username":"u","password":"p","bearer_token":"t","headers":{"X-A":"1"},)"
      R"("external_labels":{"cluster":"eu"},"tls":{"ca":"A","cert":"B","key":"C","server_name":"n",)"
      R"("insecure_skip_verify":true},"restart":true})");
  REQUIRE(request);
  CHECK(request->url == "http://p");
  CHECK(request->start_ms == 1700000000000);
  CHECK(request->end_ms == 1700003600500);
  CHECK(request->step_ms == 60'000);
  CHECK(request->username == "u");
  CHECK(request->password == "p");
  CHECK(request->bearer_token == "t");
  CHECK(request->headers[0].second == "1");
  CHECK(request->external_labels[0].second == "eu");
  CHECK(request->ca_pem == "A");
  CHECK(request->certificate_pem == "B");
  CHECK(request->key_pem == "C");
  CHECK(request->server_name == "n");
  CHECK(request->insecure_skip_verify);
  CHECK(request->restart);
  CHECK(ParseBackfillRequest("{}"));
}

TEST_CASE("a wrong request names the member and tells no secret", "[exporter][backfill]") {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "no JSON object"},
           {"[1]", "no JSON object"},
           {R"({"prometheus":1})", "\"prometheus\""},
           {R"({"start":"yesterday"})", "\"start\""},
           {R"({"start":-1})", "\"start\""},
           {R"({"end":1e300})", "\"end\""},
           {R"({"step":"60"})", "\"step\""},
           {R"({"step":0})", "\"step\""},
           {R"({"password":["hunter2"]})", "\"password\""},
           {R"({"headers":"hunter2"})", "\"headers\""},
           {R"({"headers":{"a":1}})", "\"headers\""},
           {R"({"tls":{"insecure_skip_verify":"yes"}})", "\"tls.insecure_skip_verify\""},
           {R"({"tls":{"ca_file":"/etc/passwd"}})", "tls."},
           {R"({"pasword":"hunter2"})", "allowed: prometheus, start"}}) {
    CAPTURE(text);
    const auto request = ParseBackfillRequest(text);
    REQUIRE_FALSE(request);
    CHECK(request.error().code == ErrorCode::kInvalidArgument);
    CHECK(Has(request.error().message, part));
    CHECK_FALSE(Has(request.error().message, "hunter2"));
  }
}

TEST_CASE("statuses are those that clients can act on", "[exporter][backfill]") {
  Routes routes;
  HttpResponse answer = routes.Post(R"({"prometheus":"http://p"})");
  CHECK(answer.status == 202);
  CHECK(Has(answer.body, R"("resumed":false)"));
  CHECK(routes.control.last.url == "http://p");
  answer = routes.Post("{}");
  CHECK(answer.status == 409);
  CHECK(Has(answer.body, R"("errorType":"conflict")"));
  CHECK(routes.Ask("DELETE", "/api/v1/backfill").status == 200);
  CHECK(routes.Ask("DELETE", "/api/v1/backfill").status == 404);
  CHECK(routes.Ask("POST", "/api/v1/backfill", "{}", "text/plain").status == 415);
  CHECK(routes.Ask("POST", "/api/v1/backfill", "{}", "application/x-www-form-urlencoded").status ==
        415);
  CHECK(routes.Ask("POST", "/api/v1/backfill", "{}", "").status == 415);
  CHECK(routes.Ask("GET", "/api/v1/backfill").status == 405);
  CHECK(routes.Post("{").status == 400);
  routes.control.refusal = Error{ErrorCode::kInvalidArgument, "no"};
  CHECK(routes.Post("{}").status == 400);
  routes.control.refusal = Error{ErrorCode::kUnavailable, "stopping"};
  CHECK(routes.Post("{}").status == 503);
  CHECK(routes.routes[0].wants_bearer_token);
}

TEST_CASE("the status is JSON with everything in it", "[exporter][backfill]") {
  Routes routes;
  CHECK(routes.Ask("GET", "/api/v1/status/backfill").body ==
        R"({"status":"success","data":{"state":"idle"}})");
  BackfillStatus& status = routes.control.status;
  status.state = BackfillState::kRunning;
  status.url = "http://p";
  status.start_ms = 1700000000000;
  status.step_ms = 60'000;
  status.progress_ratio = 0.25;
  status.eta_ms = 1500;
  status.current_namespaces = "a\"b";
  status.not_covered = {"x"};
  status.not_covered_total = 2;
  status.trouble = "asks again";
  const HttpResponse answer = routes.Ask("GET", "/api/v1/status/backfill");
  const auto data = boost::json::parse(answer.body).at("data");
  CHECK(data.at("state") == "running");
  CHECK(data.at("start") == "2023-11-14T22:13:20.000Z");
  CHECK(data.at("step_seconds").to_number<double>() == 60);
  CHECK(data.at("progress_ratio").to_number<double>() == 0.25);
  CHECK(data.at("eta_seconds").to_number<double>() == 1.5);
  CHECK(data.at("current") == "a\"b");
  CHECK(data.at("not_covered_total").to_number<int>() == 2);
  CHECK(data.at("trouble") == "asks again");
  CHECK_FALSE(data.as_object().contains("end"));
}

TEST_CASE("times are read as RFC 3339 writes them, and nothing else", "[exporter][rfc3339]") {
  for (const int64_t time : {int64_t{0}, int64_t{1700000000123}, int64_t{951782400000},
                             int64_t{253402300799999}, int64_t{-1}}) {
    CHECK(ParseRfc3339(FormatRfc3339(time)) == time);
  }
  CHECK(ParseRfc3339("2023-11-14T22:13:20Z") == 1700000000000);
  CHECK(ParseRfc3339("2023-11-15t00:13:20.5+02:00") == 1700000000500);
  CHECK(ParseRfc3339("2023-11-14 17:43:20.123456789-04:30") == 1700000000123);
  CHECK(ParseRfc3339("2016-12-31T23:59:60Z") == 1483228800000);
  for (const char* const text :
       {"", "2023", "2023-11-14", "2023-11-14T22:13:20", "2023-11-14T22:13Z",
        "2023-02-30T00:00:00Z", "2023-13-01T00:00:00Z", "2023-11-14T24:00:00Z",
        "2023-11-14T22:60:00Z", "2023-11-14T22:13:61Z", "2023-11-14T22:13:20.Z",
        "2023-11-14T22:13:20+2:00", "2023-11-14T22:13:20+0200", "2023-11-14T22:13:20Zx",
        "20x3-11-14T22:13:20Z", "+023-11-14T22:13:20Z"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseRfc3339(text));
  }
}

}  // namespace tidemark::exporter
