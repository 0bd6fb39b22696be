// TLS: versions, ciphers, client certificates, reloading, bad handshakes, goodbyes.

#include <openssl/ssl.h>

#include <thread>

#include "model/log.h"
#include "tests/server/certificates.h"
#include "tests/server/fixture.h"
#include "tests/server/tls_client.h"

namespace tidemark::server {
namespace {

using std::chrono::milliseconds;

/// A server's certificate and what else stands in the web configuration.
struct Tls {
  Tls() {
    config.certificate.path = folder.Write("tls.crt", own.certificate());
    config.key.path = folder.Write("tls.key", own.key());
    folder.Write("web.yml", "1");
  }
  AccessSources Sources() {
    return {.web_config_file = folder.Path("web.yml"),
            .bearer_token_file = {},
            .parse = [this](const std::string&) -> Result<AccessConfig> {
              AccessConfig access;
              access.tls = config;
              return access;
            }};
  }

  Folder folder;
  MadeCertificate ca{{.name = "clients", .ca = true}};
  MadeCertificate own{{.name = "server", .sans = {"DNS:localhost"}}};
  TlsConfig config;
};

std::optional<Reply> Hello(
    const Fixture& fixture, const MadeCertificate* certificate = nullptr,
    const std::function<void(SSL_CTX*)>& change = [](SSL_CTX*) {}) {
  TlsClient client(fixture.server->port(), certificate, change);
  return client.Ask(MakeRequest("GET", "/hello"));
}

}  // namespace

TEST_CASE("Requests and answers of any size pass through TLS", "[server][tls]") {
  Tls tls;
  Fixture fixture([](Options&) {}, tls.Sources());
  TlsClient client(fixture.server->port());
  REQUIRE(client.connected());
  CHECK(client.Peer() == tls.own.certificate());
  CHECK(client.version() == "TLSv1.3");
  CHECK(client.Ask(MakeRequest("GET", "/hello"))->body == "hello");
  const std::string body(3 << 20, 'x');
  CHECK(client.Ask(MakeRequest("POST", "/large", body))->body == std::to_string(body.size()));
  CHECK(client.Ask(MakeRequest("GET", "/big"))->body.size() == 64 << 20);
  CHECK(client.Ask(MakeRequest("GET", "/hello", {}, "Connection: close\r\n"))->body == "hello");
  CHECK(client.WaitForCloseNotify());
  CHECK(fixture.counters.tls_handshakes_failed == 0);
  CHECK(fixture.counters.certificate_expiry_now_ms > 0);
}

TEST_CASE("An answer before the end of the body arrives whole, with a goodbye", "[server][tls]") {
  Tls tls;
  Fixture fixture([](Options&) {}, tls.Sources());
  TlsClient client(fixture.server->port());
  REQUIRE(client.Send(MakeRequest("POST", "/echo", {}, "Content-Length: 100000000\r\n")));
  const auto reply = client.Read();
  REQUIRE(reply);
  CHECK(reply->status == 400);
  CHECK(client.WaitForCloseNotify());
}

TEST_CASE("TLS before 1.2 and weak ciphers are refused unless they are asked for",
          "[server][tls]") {
  const auto with_version = [](int version) {
    return [version](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, version); };
  };
  const auto with_cipher = [](const char* cipher) {
    return [cipher](SSL_CTX* context) {
      SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
      SSL_CTX_set_cipher_list(context, cipher);
    };
  };
  Tls tls;
  SECTION("by default") {
    Fixture fixture([](Options&) {}, tls.Sources());
    CHECK(Hello(fixture, nullptr, with_version(TLS1_2_VERSION)));
    CHECK_FALSE(Hello(fixture, nullptr, with_version(TLS1_1_VERSION)));
    CHECK_FALSE(Hello(fixture, nullptr, with_version(TLS1_VERSION)));
    CHECK(Hello(fixture, nullptr, with_cipher("ECDHE-ECDSA-AES128-GCM-SHA256")));
    CHECK_FALSE(Hello(fixture, nullptr, with_cipher("ECDHE-ECDSA-AES128-SHA")));
    CHECK(Eventually([&] { return fixture.counters.tls_handshakes_failed == 3; }));
  }
  SECTION("TLS 1.0 when it is asked for") {
    tls.config.min_version = TlsVersion::kTls10;
    Fixture fixture([](Options&) {}, tls.Sources());
    CHECK(Hello(fixture, nullptr, with_version(TLS1_VERSION)));
    CHECK(Hello(fixture, nullptr, with_version(TLS1_1_VERSION)));
    CHECK(Hello(fixture));
  }
  SECTION("TLS 1.3 alone") {
    tls.config.min_version = TlsVersion::kTls13;
    Fixture fixture([](Options&) {}, tls.Sources());
    CHECK(Hello(fixture));
    CHECK_FALSE(Hello(fixture, nullptr, with_version(TLS1_2_VERSION)));
  }
  SECTION("nothing above 1.2") {
    tls.config.max_version = TlsVersion::kTls12;
    Fixture fixture([](Options&) {}, tls.Sources());
    CHECK(TlsClient(fixture.server->port()).version() == "TLSv1.2");
  }
  SECTION("suites by name, in the server's order or the client's") {
    tls.config.max_version = TlsVersion::kTls12;
    tls.config.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                                "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"};
    const auto client_order = with_cipher("ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-GCM-SHA384");
    Fixture fixture([](Options&) {}, tls.Sources());
    CHECK(TlsClient(fixture.server->port(), nullptr, client_order).cipher() ==
          "ECDHE-ECDSA-AES256-GCM-SHA384");
    CHECK_FALSE(Hello(fixture, nullptr, with_cipher("ECDHE-ECDSA-AES128-GCM-SHA256")));
    tls.config.prefer_server_ciphers = false;
    REQUIRE(fixture.access->Reload());
    CHECK(TlsClient(fixture.server->port(), nullptr, client_order).cipher() ==
          "ECDHE-ECDSA-AES128-SHA");
  }
  SECTION("curves by name") {
    tls.config.curves = {"CurveP521"};
    Fixture fixture([](Options&) {}, tls.Sources());
    CHECK(Hello(fixture, nullptr, [](SSL_CTX* c) { SSL_CTX_set1_groups_list(c, "P-521"); }));
    CHECK_FALSE(Hello(fixture, nullptr, [](SSL_CTX* c) { SSL_CTX_set1_groups_list(c, "P-384"); }));
  }
}

TEST_CASE("Client certificates are judged by the policy", "[server][tls]") {
  Tls tls;
  const MadeCertificate good({.name = "prometheus", .sans = {"DNS:prometheus"}, .issuer = &tls.ca});
  const MadeCertificate expired(
      {.name = "old", .sans = {"DNS:prometheus"}, .issuer = &tls.ca, .valid_days = -1});
  const MadeCertificate stranger({.name = "stranger", .sans = {"DNS:prometheus"}});
  tls.config.client_ca.path = tls.folder.Write("ca.crt", tls.ca.certificate());
  struct Expectation {
    ClientAuth auth;
    bool none, good, expired, stranger;
  };
  for (const Expectation& expected :
       {Expectation{ClientAuth::kRequestClientCert, true, true, true, true},
        Expectation{ClientAuth::kRequireAnyClientCert, false, true, true, true},
        Expectation{ClientAuth::kVerifyClientCertIfGiven, true, true, false, false},
        Expectation{ClientAuth::kRequireAndVerifyClientCert, false, true, false, false}}) {
    CAPTURE(static_cast<int>(expected.auth));
    tls.config.client_auth = expected.auth;
    Fixture fixture([](Options&) {}, tls.Sources());
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      CAPTURE(version);
      const auto change = [version](SSL_CTX* context) {
        SSL_CTX_set_max_proto_version(context, version);
      };
      CHECK(Hello(fixture, nullptr, change).has_value() == expected.none);
      CHECK(Hello(fixture, &good, change).has_value() == expected.good);
      CHECK(Hello(fixture, &expired, change).has_value() == expected.expired);
      CHECK(Hello(fixture, &stranger, change).has_value() == expected.stranger);
    }
  }
}

TEST_CASE("Where no CA is named, no client certificate is good", "[server][tls]") {
  Tls tls;
  const MadeCertificate any({.issuer = &tls.ca});
  tls.config.client_auth = ClientAuth::kVerifyClientCertIfGiven;
  Fixture fixture([](Options&) {}, tls.Sources());
  CHECK(Hello(fixture));
  CHECK_FALSE(Hello(fixture, &any));
}

TEST_CASE("A client's certificate must have one of the allowed names", "[server][tls]") {
  Tls tls;
  tls.config.client_ca.text = tls.ca.certificate();
  tls.config.client_allowed_sans = {"prometheus", "10.1.2.3", "ops@example.org", "spiffe://a/b"};
  const auto made = [&](std::vector<std::string> sans) {
    return MadeCertificate({.name = "prometheus", .sans = std::move(sans), .issuer = &tls.ca});
  };
  for (const ClientAuth auth :
       {ClientAuth::kRequireAndVerifyClientCert, ClientAuth::kRequireAnyClientCert}) {
    tls.config.client_auth = auth;
    Fixture fixture([](Options&) {}, tls.Sources());
    for (const char* const san :
         {"DNS:prometheus", "IP:10.1.2.3", "email:ops@example.org", "URI:spiffe://a/b"}) {
      CAPTURE(san);
      const MadeCertificate good = made({"DNS:other", san});
      CHECK(Hello(fixture, &good));
    }
    for (const char* const san : {"DNS:prometheus2", "DNS:Prometheus", "IP:10.1.2.4",
                                  "DNS:*.prometheus", "URI:spiffe://a/b/c"}) {
      CAPTURE(san);
      const MadeCertificate bad = made({san});
      CHECK_FALSE(Hello(fixture, &bad));
    }
    const MadeCertificate common_name_only = made({});
    CHECK_FALSE(Hello(fixture, &common_name_only));
    CHECK_FALSE(Hello(fixture));
  }
}

TEST_CASE("A new certificate is served without a restart, and connections go on",
          "[server][tls][reload]") {
  Tls tls;
  Fixture fixture([](Options&) {}, tls.Sources());
  TlsClient old(fixture.server->port());
  REQUIRE(old.Ask(MakeRequest("GET", "/hello")));
  const int64_t first_expiry = fixture.counters.certificate_expiry_now_ms;

  const MadeCertificate next({.name = "next", .valid_days = 20});
  tls.folder.Write("tls.crt", next.certificate());
  // The key is still the old one: such a moment passes, and what was served is served.
  fixture.access->CheckFiles();
  CHECK(fixture.counters.web_config_good_now == 0);
  CHECK(TlsClient(fixture.server->port()).Peer() == tls.own.certificate());
  tls.folder.Write("tls.key", next.key());
  fixture.access->CheckFiles();
  CHECK(fixture.counters.web_config_good_now == 1);
  const int64_t later_ms = fixture.counters.certificate_expiry_now_ms - first_expiry;
  CHECK(later_ms / (3600 * 1000) == 18LL * 24);
  CHECK(TlsClient(fixture.server->port()).Peer() == next.certificate());
  CHECK(old.Ask(MakeRequest("GET", "/hello"))->body == "hello");
}

TEST_CASE("A new client CA counts for new connections", "[server][tls][reload]") {
  Tls tls;
  const MadeCertificate other_ca({.name = "others", .ca = true});
  const MadeCertificate client({.issuer = &tls.ca});
  const MadeCertificate other({.issuer = &other_ca});
  tls.config.client_ca.path = tls.folder.Write("ca.crt", tls.ca.certificate());
  tls.config.client_auth = ClientAuth::kRequireAndVerifyClientCert;
  Fixture fixture([](Options&) {}, tls.Sources());
  CHECK(Hello(fixture, &client));
  CHECK_FALSE(Hello(fixture, &other));
  tls.folder.Write("ca.crt", other_ca.certificate() + tls.ca.certificate());
  fixture.access->CheckFiles();
  CHECK(Hello(fixture, &client));
  CHECK(Hello(fixture, &other));
}

TEST_CASE("Plain HTTP on a TLS port is told so", "[server][tls]") {
  Tls tls;
  Fixture fixture([](Options&) {}, tls.Sources());
  Client client = fixture.Connect();
  const auto reply = client.Ask(MakeRequest("POST", "/large", std::string(100'000, 'x')));
  REQUIRE(reply);
  CHECK(reply->status == 400);
  CHECK(reply->body == "client sent an HTTP request to an HTTPS server\n");
  CHECK(client.WaitForEnd());
  CHECK(fixture.handled == 0);
  CHECK(fixture.counters.tls_handshakes_failed == 1);
}

TEST_CASE("Garbage instead of a handshake is counted, logged once and harms nobody",
          "[server][tls]") {
  Tls tls;
  Fixture fixture([](Options&) {}, tls.Sources());
  std::atomic<int> lines = 0;
  SetLogSink([&](std::string_view line) {
    if (line.find("TLS handshake failed") != std::string_view::npos) ++lines;
  });
  uint64_t failed = 0;
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x00\x05hello"), std::string("\x16\x03\x01\xff\xff"),
        std::string("\x80\x2e\x01\x00\x02"), std::string(70'000, '\0'), std::string("\x15"),
        std::string("hello\r\n\r\n"), std::string()}) {
    Client client = fixture.Connect();
    client.Send(garbage);
    client.FinishSending();
    ++failed;
    CHECK(Eventually([&] { return fixture.counters.tls_handshakes_failed == failed; }));
  }
  CHECK(lines == 1);
  SetLogSink({});
  CHECK(Hello(fixture));
  CHECK(Eventually([&] { return fixture.counters.connections_now == 0; }));
}

TEST_CASE("A slow handshake ends at its deadline", "[server][tls]") {
  Tls tls;
  Fixture fixture([](Options& options) { options.handshake_deadline = milliseconds(100); },
                  tls.Sources());
  Client silent = fixture.Connect();
  Client half = fixture.Connect();
  REQUIRE(half.Send(std::string("\x16\x03\x01\x02\x00\x01", 6)));
  CHECK(silent.WaitForEnd());
  half.WaitForEnd();
  CHECK(Eventually([&] { return fixture.counters.connections_now == 0; }));
  CHECK(fixture.counters.timeouts == 2);
  CHECK(fixture.counters.tls_handshakes_failed == 2);
}

TEST_CASE("Idle TLS connections are closed with a goodbye", "[server][tls]") {
  Tls tls;
  SECTION("at the idle timeout") {
    Fixture fixture([](Options& options) { options.idle_timeout = milliseconds(100); },
                    tls.Sources());
    TlsClient client(fixture.server->port());
    REQUIRE(client.Ask(MakeRequest("GET", "/hello")));
    CHECK(client.WaitForCloseNotify());
  }
  SECTION("at a stop") {
    Fixture fixture([](Options&) {}, tls.Sources());
    TlsClient client(fixture.server->port());
    REQUIRE(client.Ask(MakeRequest("GET", "/hello")));
    std::thread stopper([&] { fixture.server->Stop(); });
    CHECK(client.WaitForCloseNotify());
    stopper.join();
    CHECK(fixture.counters.connections_now == 0);
  }
  SECTION("in favour of a new one") {
    Fixture fixture([](Options& options) { options.max_connections = 1; }, tls.Sources());
    TlsClient client(fixture.server->port());
    REQUIRE(client.Ask(MakeRequest("GET", "/hello")));
    REQUIRE(Eventually([&] { return fixture.counters.requests_now == 0; }));
    CHECK(Hello(fixture)->status == 200);
    CHECK(client.WaitForCloseNotify());
    CHECK(fixture.counters.connections_evicted == 1);
  }
}

TEST_CASE("Over the limit a TLS client is told so", "[server][tls]") {
  Tls tls;
  Fixture fixture([](Options& options) { options.max_connections = 1; }, tls.Sources());
  TlsClient busy(fixture.server->port());
  REQUIRE(busy.Send(MakeRequest("GET", "/gate")));
  REQUIRE(fixture.gate.AwaitArrivals(1));
  const auto refused = Hello(fixture);
  REQUIRE(refused);
  CHECK(refused->status == 503);
  fixture.gate.Open();
  CHECK(busy.Read()->status == 200);
}

TEST_CASE("HTTP/1.1 is agreed on by ALPN", "[server][tls]") {
  Tls tls;
  Fixture fixture([](Options&) {}, tls.Sources());
  const auto offering = [](std::string names) {
    return [names = std::move(names)](SSL_CTX* context) {
      SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(names.data()),
                              static_cast<unsigned>(names.size()));
    };
  };
  TlsClient both(fixture.server->port(), nullptr, offering("\x02h2\x08http/1.1"));
  CHECK(both.alpn() == "http/1.1");
  CHECK(both.Ask(MakeRequest("GET", "/hello")));
  TlsClient h2(fixture.server->port(), nullptr, offering("\x02h2"));
  CHECK(h2.alpn().empty());
}

TEST_CASE("Many TLS clients at a time are all served", "[server][tls]") {
  Tls tls;
  Fixture fixture([](Options&) {}, tls.Sources());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      TlsClient client(fixture.server->port());
      for (int k = 0; k < 20; ++k) {
        const auto reply = client.Ask(MakeRequest("POST", "/large", std::string(40'000, 'x')));
        if (reply && reply->body == "40000") ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 160);
}

}  // namespace tidemark::server
