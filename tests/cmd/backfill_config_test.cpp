// `backfill:` of the configuration, and the flags of `tidetool backfill`.

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <fstream>

#include "cmd/backfill_flags.h"
#include "cmd/config.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string Wrong(const std::string& section) {
  const auto config = ParseConfig("backfill:\n  " + section + "\n", "/etc/tidemark/t.yml");
  REQUIRE_FALSE(config);
  CHECK(config.error().code == ErrorCode::kInvalidArgument);
  CHECK(config.error().message.starts_with("/etc/tidemark/t.yml:"));
  CHECK_FALSE(Has(config.error().message, "hunter2"));
  return config.error().message;
}

Result<BackfillOrder> Read(const std::vector<std::string>& args) {
  const auto line = ParseCommandLine(BackfillSpec(), args);
  REQUIRE(line);
  return ReadBackfillFlags(*line, kNow);
}

std::string BodyOf(const std::vector<std::string>& args) {
  const auto order = Read(args);
  INFO((order ? "" : order.error().message));
  REQUIRE(order);
  return order->body;
}

std::string WrongFlags(const std::vector<std::string>& args) {
  const auto order = Read(args);
  REQUIRE_FALSE(order);
  CHECK(order.error().code == ErrorCode::kInvalidArgument);
  return order.error().message;
}

}  // namespace

TEST_CASE("a whole backfill section is read", "[cmd][config][backfill]") {
  const auto config = ParseConfig(R"(backfill:
  url: https://mimir/prometheus
  range: 30d
  step: 2m
  concurrency: 3
  timeout: 30s
  connect_timeout: 3s
  external_labels: {cluster: eu-1}
  basic_auth: {username: me, password_file: secrets/password}
  tls_config: {ca_file: ca.pem, cert_file: /c.pem, key_file: k.pem, server_name: m, insecure_skip_verify: true}
  http_headers: {X-Scope-OrgID: tenant}
  proxy_url: http://proxy:3128
)",
                                  "/etc/tidemark/t.yml");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  const backfill::Options& options = config->backfill;
  CHECK(options.http.url == "https://mimir/prometheus");
  CHECK(options.range_ms == 30LL * 24 * 3600 * 1000);
  CHECK(options.step_ms == 120'000);
  CHECK(options.concurrency == 3);
  CHECK(options.http.timeout == std::chrono::seconds(30));
  CHECK(options.external_labels == backfill::LabelPairs{{"cluster", "eu-1"}});
  CHECK(options.http.basic_auth.password_file == "/etc/tidemark/secrets/password");
  CHECK(options.http.tls_config.ca_file == "/etc/tidemark/ca.pem");
  CHECK(options.http.tls_config.cert_file == "/c.pem");
  CHECK(options.http.tls_config.insecure_skip_verify);
  CHECK(options.http.http_headers[0].second == "tenant");
  CHECK(options.http.proxy_url == "http://proxy:3128");
}

TEST_CASE("a wrong backfill section is refused with its place", "[cmd][config][backfill]") {
  CHECK(Has(Wrong("url: prometheus:9090"), "http://"));
  CHECK(Has(Wrong("url: http://me:hunter2@host"), "basic_auth"));
  CHECK(Has(Wrong("step: 10m"), "backfill.step: 10m is no step, allowed: auto, or 15s to 5m"));
  CHECK(Has(Wrong("step: 1s"), "15s to 5m"));
  CHECK(Has(Wrong("range: 1m"), "backfill.range"));
  CHECK(Has(Wrong("concurrency: 5"), "backfill.concurrency"));
  CHECK(Has(Wrong("basic_auth: {password: hunter2}"), "username"));
  CHECK(Has(Wrong("authorization: {type: Digest, credentials: hunter2}"), "Bearer"));
  CHECK(Has(Wrong("external_labels: {__name__: up}"), "external_labels"));
  CHECK(Has(Wrong("http_headers: {Authorization: hunter2}"), "basic_auth or authorization"));
  CHECK(Has(Wrong("tls_config: {cert_file: a}"), "without key"));
  CHECK(Has(Wrong("uri: x"), "uri"));
}

TEST_CASE("a dump does not show secrets", "[cmd][config][backfill]") {
  for (const std::string section :
       {"{basic_auth: {username: me, password: hunter2}}",
        "{authorization: {credentials: hunter2}}", "{tls_config: {cert: a, key: hunter2}}",
        "{http_headers: {X-Token: hunter2}}"}) {
    CAPTURE(section);
    const auto config = ParseConfig("backfill: " + section, "x");
    REQUIRE(config);
    const std::string dump = DumpConfig(*config);
    CHECK_FALSE(Has(dump, "hunter2"));
    CHECK(Has(dump, "<secret>"));
    CHECK(ParseConfig(dump, "x"));
  }
}

TEST_CASE("times are durations ago, seconds, or left to the daemon", "[cmd][backfill]") {
  CHECK(BodyOf({}) == "{}");
  CHECK(BodyOf({"--prometheus=http://p:9090", "--start=8d", "--end=1700000000", "--step=90s"}) ==
        R"({"prometheus":"http://p:9090","start":1.6993088E9,"end":1.7E9,"step":9E1})");
  CHECK(BodyOf({"--start=2026-11-01T00:00:00Z"}) == R"({"start":"2026-11-01T00:00:00Z"})");
  CHECK(BodyOf({"--restart", "--external-labels=cluster=eu-1,a=b"}) ==
        R"({"external_labels":{"cluster":"eu-1","a":"b"},"restart":true})");
  CHECK(Has(WrongFlags({"--start=yesterday"}), "--start: yesterday is no time"));
  CHECK(Has(WrongFlags({"--end=-5"}), "--end"));
  CHECK(Has(WrongFlags({"--step=fast"}), "--step"));
  CHECK(Has(WrongFlags({"--external-labels=cluster"}), "NAME=VALUE"));
  CHECK(Has(WrongFlags({"--prometheus=p:9090"}), "--prometheus"));
  CHECK(Has(WrongFlags({"--tidemark=x"}), "--tidemark"));
  CHECK(
      Has(WrongFlags({"--tidemark.username=a", "--tidemark.bearer-token-file=b"}), "one of them"));
}

TEST_CASE("secrets come from files and certificates travel as text", "[cmd][backfill]") {
  const std::string path = "backfill_flags_test.secret";
  std::ofstream(path) << "line one\n";
  CHECK(BodyOf({"--username=me", "--password-file=" + path, "--ca-file=" + path,
                "--insecure-skip-verify", "--server-name=p", "--header=X-Scope-OrgID: t: 1"}) ==
        R"({"username":"me","password":"line one","tls":{"ca":"line one\n","server_name":"p",)"
        R"("insecure_skip_verify":true},"headers":{"X-Scope-OrgID":"t: 1"}})");
  std::remove(path.c_str());
  CHECK(Has(WrongFlags({"--password-file=" + path}), "--password-file: " + path));
  CHECK(Has(WrongFlags({"--ca-file=" + path}), "--ca-file"));
  CHECK(Has(WrongFlags({"--header=X"}), "NAME: VALUE"));
  CHECK(Has(WrongFlags({"--header=Authorization: x"}), "--header"));
}

}  // namespace tidemark::cmd
