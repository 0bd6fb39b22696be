#include "kubernetes/status.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "tests/catch.h"

using namespace tidemark;
using kubernetes::MakeStatus;
using kubernetes::StatusAnswer;

TEST_CASE("an error is a Status", "[kubernetes][status]") {
  const HttpResponse answer = StatusAnswer(404, "no workload \"wbe\"");
  CHECK(answer.status == 404);
  const boost::json::value body = boost::json::parse(answer.body);
  CHECK(body.at("kind") == "Status");
  CHECK(body.at("apiVersion") == "v1");
  CHECK(body.at("metadata").is_object());
  CHECK(body.at("status") == "Failure");
  CHECK(body.at("reason") == "NotFound");
  CHECK(body.at("code") == 404);
  CHECK(body.at("message") == "no workload \"wbe\"");
}

TEST_CASE("a message is UTF-8 whatever bytes it is made of", "[kubernetes][status]") {
  const HttpResponse answer =
      StatusAnswer(400, "a\xFF\xC3\xA9\xC3 \xED\xA0\x80 \xF0\x9F\x98\x80 \xC0\x80");
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(boost::json::parse(answer.body).at("message").as_string() ==
        "a" + bad + "\xC3\xA9" + bad + " " + bad + bad + bad + " \xF0\x9F\x98\x80 " + bad + bad);
}

TEST_CASE("the server's own refusals become a Status without Retry-After", "[kubernetes][status]") {
  HttpResponse refused = HttpResponse::Text(503, "too many requests at a time");
  refused.headers.push_back({"retry-after", "5"});
  refused.headers.push_back({"X-Kept", "1"});
  refused.close = true;
  MakeStatus(refused);
  CHECK(refused.status == 503);
  CHECK(refused.close);
  bool kept = false;
  for (const HttpHeader& header : refused.headers) {
    CHECK(header.name != "retry-after");
    kept = kept || header.name == "X-Kept";
  }
  CHECK(kept);
  CHECK(boost::json::parse(refused.body).at("message") == "too many requests at a time");

  HttpResponse good = HttpResponse::Text(200, "ok");
  MakeStatus(good);
  CHECK(good.body == "ok\n");
}
