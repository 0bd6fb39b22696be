// What the client sends, what it makes of answers, and how each kind of trouble is told.

#include "client/http_client.h"

#include <zlib.h>

#include <atomic>
#include <future>

#include "client/secret_file.h"
#include "client/secrets.h"
#include "tests/catch.h"
#include "tests/client/fake_server.h"
#include "tests/server/certificates.h"

namespace tidemark::client {
namespace {

using namespace std::chrono_literals;
using server::Folder;

HttpClientOptions For(const std::string& url) {
  HttpClientOptions options;
  options.url = url;
  options.timeout = 20s;
  return options;
}

std::unique_ptr<HttpClient> Open(const HttpClientOptions& options) {
  auto client = HttpClient::Open(options);
  INFO((client ? "" : client.error().message));
  REQUIRE(client);
  return *std::move(client);
}

tl::expected<Response, Fault> Get(const HttpClientOptions& options,
                                  const std::string& path = "/a") {
  return Open(options)->Fetch({.method = "GET", .path = path});
}

Fault FaultOfGet(const HttpClientOptions& options) {
  auto answer = Get(options);
  REQUIRE_FALSE(answer);
  return answer.error();
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string Gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(text.size() / 100 + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Answers 200 and keeps the last request.
struct Echo {
  FakeRequest last;
  std::mutex mutex;
  FakeHandler Handler() {
    return [this](const FakeRequest& request) {
      const std::lock_guard lock(mutex);
      last = request;
      return HttpAnswer(200, "good");
    };
  }
};

}  // namespace

TEST_CASE("a request carries path, query, headers and body", "[client]") {
  Echo echo;
  FakeServer server(echo.Handler());
  HttpClientOptions options = For(server.url() + "/prefix/");
  options.http_headers = {{"X-Scope-OrgID", "tenant-1"}, {"X-Empty", ""}};
  const auto client = Open(options);
  const auto answer = client->Fetch(
      {.method = "GET", .path = "/api", .query = {{"query", "a{b=\"c d\"}+&"}, {"x", ""}}});
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "good");
  CHECK(answer->content_type == "application/json");
  CHECK(echo.last.method == "GET");
  CHECK(echo.last.Path() == "/prefix/api");
  CHECK(echo.last.Parameter("query") == "a{b=\"c d\"}+&");
  CHECK(echo.last.Parameter("x") == "");
  CHECK(echo.last.Header("X-Scope-OrgID") == "tenant-1");
  CHECK(echo.last.Header("Accept-Encoding") == "gzip");
  CHECK(echo.last.Header("Authorization").empty());

  const auto post = client->Fetch({.method = "POST",
                                   .path = "/form",
                                   .content_type = "application/x-www-form-urlencoded",
                                   .body = EncodeForm({{"a", "1&2"}})});
  REQUIRE(post);
  CHECK(echo.last.method == "POST");
  CHECK(echo.last.body == "a=1%262");
  CHECK(echo.last.Header("Content-Type") == "application/x-www-form-urlencoded");
  CHECK(echo.last.Header("Expect").empty());

  REQUIRE(client->Fetch({.method = "DELETE", .path = "/gone"}));
  CHECK(echo.last.method == "DELETE");
  CHECK(echo.last.body.empty());
}

TEST_CASE("credentials are sent, and those in files are read for each request", "[client][auth]") {
  Echo echo;
  FakeServer server(echo.Handler());
  const Folder folder;

  HttpClientOptions basic = For(server.url());
  basic.basic_auth = {.username = "user", .password = "pass:word", .password_file = {}};
  REQUIRE(Get(basic));
  CHECK(echo.last.Header("Authorization") == "Basic dXNlcjpwYXNzOndvcmQ=");

  HttpClientOptions from_file = For(server.url());
  from_file.basic_auth = {
      .username = "user", .password = {}, .password_file = folder.Write("password", "one\n")};
  const auto client = Open(from_file);
  REQUIRE(client->Fetch({.method = "GET", .path = "/"}));
  CHECK(echo.last.Header("Authorization") == "Basic dXNlcjpvbmU=");
  folder.Write("password", "two\n");
  REQUIRE(client->Fetch({.method = "GET", .path = "/"}));
  CHECK(echo.last.Header("Authorization") == "Basic dXNlcjp0d28=");

  HttpClientOptions bearer = For(server.url());
  bearer.authorization.credentials_file = folder.Write("token", "  secret-token\n");
  REQUIRE(Get(bearer));
  CHECK(echo.last.Header("Authorization") == "Bearer secret-token");

  bearer.authorization.credentials_file = folder.Path("absent");
  const Fault fault = FaultOfGet(bearer);
  CHECK(fault.kind == FaultKind::kOptions);
  CHECK(Has(fault.message, folder.Path("absent")));
}

TEST_CASE("an unreachable server is told from one that is slow", "[client][fault]") {
  const Fault refused = FaultOfGet(For("http://127.0.0.1:" + std::to_string(ClosedPort())));
  CHECK(refused.kind == FaultKind::kUnreachable);
  CHECK(Has(refused.message, "unreachable: Connection refused"));

  const Fault unknown = FaultOfGet(For("http://no-such-host.invalid:9090"));
  CHECK(unknown.kind == FaultKind::kUnreachable);
  CHECK(Has(unknown.message, "http://no-such-host.invalid:9090/a: unreachable"));
  CHECK(Has(unknown.message, "DNS"));

  FakeServer silent([](const FakeRequest&) { return std::nullopt; });
  HttpClientOptions impatient = For(silent.url());
  impatient.timeout = 200ms;
  const Fault slow = FaultOfGet(impatient);
  CHECK(slow.kind == FaultKind::kTimeout);
  CHECK(Has(slow.message, "no answer in time"));

  FakeServer closing([](const FakeRequest&) { return ""; });
  CHECK(FaultOfGet(For(closing.url())).kind == FaultKind::kUnreachable);

  FakeServer cutting([](const FakeRequest&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this";
  });
  const Fault cut = FaultOfGet(For(cutting.url()));
  CHECK(cut.kind == FaultKind::kUnreachable);
  CHECK(Has(cut.message, "before the answer was whole"));

  FakeServer other([](const FakeRequest&) { return "SSH-2.0-OpenSSH_9.2\r\n"; });
  CHECK(FaultOfGet(For(other.url())).kind == FaultKind::kNotHttp);
}

TEST_CASE("a request ends within a second when it is stopped", "[client][cancel]") {
  std::promise<void> arrived;
  FakeServer silent([&](const FakeRequest&) {
    arrived.set_value();
    return std::nullopt;
  });
  const auto client = Open(For(silent.url()));
  std::stop_source source;
  std::jthread stopper([&] {
    arrived.get_future().wait();
    source.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = client->Fetch({.method = "GET", .path = "/"}, nullptr, source.get_token());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().kind == FaultKind::kCancelled);
  CHECK(std::chrono::steady_clock::now() - begin < 5s);

  const auto again = client->Fetch({.method = "GET", .path = "/"}, nullptr, source.get_token());
  REQUIRE_FALSE(again);
  CHECK(again.error().kind == FaultKind::kCancelled);
}

TEST_CASE("a refusal is told in the server's own words", "[client][fault]") {
  const auto refused = [](int status, const std::string& body,
                          const std::string& type = "application/json",
                          const std::string& headers = "") {
    FakeServer server([&](const FakeRequest&) { return HttpAnswer(status, body, type, headers); });
    Fault fault = FaultOfGet(For(server.url()));
    CHECK(fault.status == static_cast<unsigned>(status));
    return fault;
  };
  const Fault limit = refused(
      422, R"({"status":"error","errorType":"execution","error":"query processing would load too)"
           R"( many samples into memory in query execution"})");
  CHECK(limit.kind == FaultKind::kStatus);
  CHECK(limit.server_text ==
        "query processing would load too many samples into memory in query execution");
  CHECK(Has(limit.message, "answered 422: query processing"));

  CHECK(refused(403, R"({"kind":"Status","message":"pods is forbidden"})").server_text ==
        "pods is forbidden");
  CHECK(Has(refused(401, "Unauthorized\n", "text/plain").message, "credentials"));
  CHECK(
      refused(404, "<html><head><title>Not here</title></head></html>", "text/html").server_text ==
      "an HTML page: Not here");
  const Fault busy = refused(503, "busy", "text/plain", "Retry-After: 7\r\n");
  CHECK(busy.retry_after == std::chrono::seconds(7));
  CHECK_FALSE(refused(500, "").retry_after);
  // Control bytes of a server do not get into our log.
  CHECK(refused(500, "a\x1b[31mb", "text/plain").server_text == "a [31mb");
  // However long it talks.
  CHECK(refused(500, std::string(1 << 20, 'x'), "text/plain").server_text.size() < 600);
}

TEST_CASE("credentials that a server repeats in its refusal are hidden", "[client][fault][auth]") {
  const auto repeat = [](const FakeRequest& request) {
    return HttpAnswer(400, R"({"error":"refused: )" + request.Header("Authorization") + " of " +
                               request.Header("X-Scope-OrgID") + " with " +
                               request.Header("X-Key") + R"("})");
  };
  FakeServer server(repeat);
  HttpClientOptions options = For(server.url());
  options.http_headers = {{"X-Scope-OrgID", "tenant-1"}, {"X-Key", "key-of-ours"}};
  SECTION("a token") {
    options.authorization.credentials = "token-of-ours";
    CHECK(FaultOfGet(options).server_text == "refused: Bearer <hidden> of tenant-1 with <hidden>");
  }
  SECTION("a password, as it goes on the wire") {
    options.basic_auth = {.username = "user", .password = "pass:word", .password_file = {}};
    CHECK(FaultOfGet(options).server_text == "refused: Basic <hidden> of tenant-1 with <hidden>");
  }
  const Fault fault = FaultOfGet(options);
  CHECK(Has(fault.message, "<hidden>"));
  CHECK_FALSE(Has(fault.message, "ours"));
  const auto client = Open(options);
  REQUIRE_FALSE(client->Fetch({.method = "GET", .path = "/a"}));
  CHECK(client->WithoutSecrets("no key-of-ours, tenant-1") == "no <hidden>, tenant-1");
}

TEST_CASE("a secret is hidden whole, and in every place", "[client][auth]") {
  Secrets secrets;
  secrets.Add("abc");  // too short to be told from a word
  secrets.Add("abcd");
  secrets.Add("abcdef");
  secrets.Add("");
  CHECK(secrets.Hide("abc abcd, abcdef abcdefabcd") == "abc <hidden>, <hidden> <hidden><hidden>");
  secrets.Clear();
  CHECK(secrets.Hide("abcd") == "abcd");
  for (const auto& [password, wire] : {std::pair<const char*, const char*>{"1234", "dToxMjM0"},
                                       {"12345", "dToxMjM0NQ=="},
                                       {"123456", "dToxMjM0NTY="}}) {
    secrets.Clear();
    secrets.AddBasic("u", password);
    CHECK(secrets.Hide(std::string(wire) + " " + password) == "<hidden> <hidden>");
  }
}

TEST_CASE("redirects are not followed", "[client][fault]") {
  FakeServer target([](const FakeRequest&) { return HttpAnswer(200, "stolen"); });
  FakeServer server([&](const FakeRequest&) {
    return HttpAnswer(302, "", "text/plain",
                      "Location: " + target.url() + "/elsewhere?session=secret\r\n");
  });
  HttpClientOptions options = For(server.url());
  options.authorization.credentials = "token";
  const Fault fault = FaultOfGet(options);
  CHECK(fault.kind == FaultKind::kRedirect);
  CHECK(Has(fault.message, target.url() + "/elsewhere;"));
  CHECK_FALSE(Has(fault.message, "secret"));
  CHECK(target.connections() == 0);
}

TEST_CASE("an answer is bounded by its unpacked size", "[client][bound]") {
  const std::string large(3 << 20, 'x');
  FakeServer plain([&](const FakeRequest&) { return HttpAnswer(200, large); });
  FakeServer bomb([&](const FakeRequest&) {
    return HttpAnswer(200, Gzip(large), "application/json", "Content-Encoding: gzip\r\n");
  });
  for (const FakeServer* server : {&plain, &bomb}) {
    HttpClientOptions options = For(server->url());
    const auto good = Get(options);
    REQUIRE(good);
    CHECK(good->body == large);
    CHECK(good->bytes == large.size());
    options.max_response_bytes = 1 << 20;
    CHECK(FaultOfGet(options).kind == FaultKind::kTooLarge);
  }
}

TEST_CASE("who takes the body may end it, and sees no body of a refusal", "[client][stream]") {
  std::atomic<int> status{200};
  FakeServer server(
      [&](const FakeRequest&) { return HttpAnswer(status, std::string(1 << 20, 'y')); });
  const auto client = Open(For(server.url()));
  size_t taken = 0;
  const auto all = client->Fetch({.method = "GET", .path = "/"}, [&](std::string_view piece) {
    taken += piece.size();
    return true;
  });
  REQUIRE(all);
  CHECK(taken == 1 << 20);
  CHECK(all->body.empty());
  const auto ended =
      client->Fetch({.method = "GET", .path = "/"}, [](std::string_view) { return false; });
  REQUIRE_FALSE(ended);
  CHECK(ended.error().kind == FaultKind::kRefused);
  status = 500;
  bool called = false;
  const auto refused = client->Fetch({.method = "GET", .path = "/"}, [&](std::string_view) {
    called = true;
    return true;
  });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().status == 500);
  CHECK_FALSE(called);
}

TEST_CASE("no proxy of the environment is used, and the configured one is", "[client][proxy]") {
  Echo echo;
  FakeServer server(echo.Handler());
  FakeServer proxy([](const FakeRequest& request) { return HttpAnswer(200, request.target); });
  REQUIRE(setenv("http_proxy", proxy.url().c_str(), 1) == 0);
  const auto direct = Get(For(server.url()));
  unsetenv("http_proxy");
  REQUIRE(direct);
  CHECK(proxy.connections() == 0);
  HttpClientOptions options = For(server.url());
  options.proxy_url = proxy.url();
  const auto by_proxy = Get(options);
  REQUIRE(by_proxy);
  CHECK(by_proxy->body == server.url() + "/a");
}

TEST_CASE("TLS is verified, and told in full when it fails", "[client][tls]") {
  const Folder folder;
  const server::MadeCertificate ca({.name = "authority", .ca = true});
  const server::MadeCertificate other_ca({.name = "another authority", .ca = true});
  const server::MadeCertificate certificate(
      {.name = "prometheus", .sans = {"DNS:prometheus.internal", "IP:127.0.0.1"}, .issuer = &ca});
  const server::MadeCertificate named(
      {.name = "prometheus", .sans = {"DNS:prometheus.internal"}, .issuer = &ca});
  Echo echo;
  FakeServer server(echo.Handler(), FakeTls{certificate.certificate(), certificate.key(), ""});
  HttpClientOptions options = For(server.url());

  SECTION("an unknown authority") {
    const Fault fault = FaultOfGet(options);
    CHECK(fault.kind == FaultKind::kTls);
    CHECK(Has(fault.message, "tls_config.ca_file"));
    options.tls_config.ca = other_ca.certificate();
    CHECK(FaultOfGet(options).kind == FaultKind::kTls);
  }
  SECTION("the right authority, as file and as text") {
    options.tls_config.ca_file = folder.Write("ca.pem", ca.certificate());
    CHECK(Get(options));
    options.tls_config.ca_file.clear();
    options.tls_config.ca = ca.certificate();
    CHECK(Get(options));
  }
  SECTION("not verified, when told so") {
    options.tls_config.insecure_skip_verify = true;
    CHECK(Get(options));
  }
  SECTION("a file that is not there") {
    options.tls_config.ca_file = folder.Path("absent.pem");
    const Fault fault = FaultOfGet(options);
    CHECK(fault.kind == FaultKind::kOptions);
    CHECK(Has(fault.message, "absent.pem"));
  }
  SECTION("a certificate for another name") {
    FakeServer elsewhere(echo.Handler(), FakeTls{named.certificate(), named.key(), ""});
    HttpClientOptions by_address = For(elsewhere.url());
    by_address.tls_config.ca = ca.certificate();
    const Fault fault = FaultOfGet(by_address);
    CHECK(fault.kind == FaultKind::kTls);
    CHECK(Has(fault.message, "tls_config.server_name"));
    by_address.tls_config.server_name = "prometheus.internal";
    CHECK(Get(by_address));
    CHECK(echo.last.Header("Host") == "127.0.0.1:" + std::to_string(elsewhere.port()));
  }
  SECTION("a client certificate that the server wants") {
    const server::MadeCertificate client({.name = "tidemark", .issuer = &ca});
    FakeServer strict(echo.Handler(),
                      FakeTls{certificate.certificate(), certificate.key(), ca.certificate()});
    HttpClientOptions wanted = For(strict.url());
    wanted.tls_config.ca = ca.certificate();
    const Fault refused = FaultOfGet(wanted);
    INFO(refused.message);
    CHECK(refused.kind == FaultKind::kTls);
    wanted.tls_config.cert_file = folder.Write("client.pem", client.certificate());
    wanted.tls_config.key_file = folder.Write("client.key", client.key());
    CHECK(Get(wanted));
    wanted.tls_config = {};
    wanted.tls_config.ca = ca.certificate();
    wanted.tls_config.cert = client.certificate();
    wanted.tls_config.key = client.key();
    CHECK(Get(wanted));
  }
  SECTION("https to a server of plain HTTP") {
    FakeServer plain(echo.Handler());
    HttpClientOptions wrong = For("https://127.0.0.1:" + std::to_string(plain.port()));
    const Fault fault = FaultOfGet(wrong);
    INFO(fault.message);
    CHECK(fault.kind == FaultKind::kTls);
    CHECK(Has(fault.message, "http://"));
  }
}

TEST_CASE("wrong options are refused without telling a secret", "[client][options]") {
  const auto wrong = [](const std::function<void(HttpClientOptions&)>& change) {
    HttpClientOptions options = For("http://host:1");
    change(options);
    const auto checked = CheckOptions(options);
    REQUIRE_FALSE(checked);
    CHECK_FALSE(Has(checked.error().message, "hunter2"));
    return checked.error().message;
  };
  const auto url = [&](const std::string& text) {
    return wrong([&](HttpClientOptions& options) { options.url = text; });
  };
  CHECK(Has(url("http://me:hunter2@host"), "basic_auth"));
  CHECK(Has(url("host:9090"), "http://"));
  CHECK(Has(url("ftp://host"), "http://"));
  CHECK(Has(url("http://"), "no URL"));
  CHECK(Has(url("http://host/?token=hunter2"), "query"));
  CHECK(Has(url("http://ho st"), "blanks"));
  CHECK(Has(wrong([](auto& o) { o.basic_auth.password = "hunter2"; }), "username"));
  CHECK(Has(wrong([](auto& o) {
              o.basic_auth = {"u", "hunter2", ""};
              o.authorization.credentials = "hunter2";
            }),
            "one of them"));
  CHECK(Has(wrong([](auto& o) { o.basic_auth = {"u", "hunter2", "file"}; }), "one of them"));
  CHECK(Has(wrong([](auto& o) { o.authorization.credentials = "hunter2\r\nX: y"; }), "control"));
  CHECK(Has(wrong([](auto& o) {
              o.http_headers = {{"Authorization", "hunter2"}};
            }),
            "basic_auth or authorization"));
  CHECK(Has(wrong([](auto& o) { o.http_headers = {{"X-A", "hunter2\r\nX: y"}}; }), "control"));
  CHECK(Has(wrong([](auto& o) { o.http_headers = {{"X A", "hunter2"}}; }), "name of a header"));
  CHECK(Has(wrong([](auto& o) { o.tls_config.cert_file = "a"; }), "without key"));
  CHECK(Has(wrong([](auto& o) { o.tls_config.ca = "a", o.tls_config.ca_file = "b"; }),
            "one of them"));
  CHECK(Has(wrong([](auto& o) { o.tls_config.server_name = "a/b"; }), "server_name"));
  CHECK(CheckOptions(For("https://[::1]:9090/prefix")));
}

TEST_CASE("a file of a secret is one line", "[client][auth]") {
  const Folder folder;
  CHECK(ReadSecretFile(folder.Write("good", " token\r\n")) == "token");
  for (const auto& [content, why] : {std::pair("", "empty"), std::pair(" \n", "empty"),
                                     std::pair("a\nb\n", "more than one line")}) {
    const auto read = ReadSecretFile(folder.Write("bad", content));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::kIo);
    CHECK(Has(read.error().message, why));
  }
  CHECK_FALSE(ReadSecretFile(folder.Write("large", std::string(70'000, 'x'))));
  CHECK_FALSE(ReadSecretFile(folder.Path(".")));
}

}  // namespace tidemark::client
