// A server of its own certificate files, whose handlers judge what clients show.

#include <openssl/ssl.h>

#include <filesystem>

#include "tests/server/certificates.h"
#include "tests/server/fixture.h"
#include "tests/server/tls_client.h"

namespace tidemark::server {
namespace {

struct Files {
  Files() {
    folder.Write("tls.crt", own.certificate());
    folder.Write("tls.key", own.key());
  }
  AccessSources Sources() const {
    return CertificateFiles(folder.Path("tls.crt"), folder.Path("tls.key"));
  }

  Folder folder;
  MadeCertificate own{{.name = "server", .sans = {"DNS:localhost"}}};
};

std::string ShownBy(const Fixture& fixture, const MadeCertificate* certificate,
                    const std::function<void(SSL_CTX*)>& change) {
  TlsClient client(fixture.server->port(), certificate, change);
  const auto first = client.Ask(MakeRequest("GET", "/shown"));
  const auto second = client.Ask(MakeRequest("GET", "/shown"));
  if (!first || !second) return "no answer";
  CHECK(first->body == second->body);
  return first->body;
}

TEST_CASE("Whatever certificate a client shows, it can connect, and handlers see it",
          "[server][tls][shown]") {
  const Files files;
  const MadeCertificate ca({.name = "ca", .ca = true});
  const MadeCertificate middle({.name = "middle", .issuer = &ca, .ca = true});
  const MadeCertificate leaf({.name = "leaf", .issuer = &middle});
  const MadeCertificate expired({.issuer = &ca, .valid_days = -1});
  const MadeCertificate early({.issuer = &ca, .valid_days = 9, .valid_from_days = 5});
  const MadeCertificate stranger({.name = "stranger"});
  const MadeCertificate server_only({.issuer = &ca, .usage = "serverAuth"});
  const MadeCertificate nameless({.name = "", .issuer = &ca});
  Fixture fixture([](Options&) {}, files.Sources());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    CAPTURE(version);
    const auto change = [version](SSL_CTX* context) {
      SSL_CTX_set_min_proto_version(context, version);
      SSL_CTX_set_max_proto_version(context, version);
    };
    CHECK(ShownBy(fixture, nullptr, change) == "none");
    for (const MadeCertificate* one : {&leaf, &expired, &early, &stranger, &server_only, &nameless})
      CHECK(ShownBy(fixture, one, change) == one->Der());
    const auto with_chain = [&](SSL_CTX* context) {
      change(context);
      SSL_CTX_add1_chain_cert(context, middle.x509());
      SSL_CTX_add1_chain_cert(context, ca.x509());
    };
    CHECK(ShownBy(fixture, &leaf, with_chain) == leaf.Der() + middle.Der() + ca.Der());
  }
  CHECK(fixture.counters.tls_handshakes_failed == 0);
}

TEST_CASE("No CA is named to clients: some would keep their certificate to themselves",
          "[server][tls][shown]") {
  const Files files;
  const MadeCertificate leaf({.name = "leaf"});
  Fixture fixture([](Options&) {}, files.Sources());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    int asked = 0;
    int named = 0;
    struct Counts {
      int& asked;
      int& named;
    } counts{asked, named};
    TlsClient client(fixture.server->port(), &leaf, [&](SSL_CTX* context) {
      SSL_CTX_set_max_proto_version(context, version);
      SSL_CTX_set_cert_cb(
          context,
          [](SSL* ssl, void* argument) {
            auto& seen = *static_cast<Counts*>(argument);
            ++seen.asked;
            const STACK_OF(X509_NAME)* const names = SSL_get0_peer_CA_list(ssl);
            seen.named += names == nullptr ? 0 : sk_X509_NAME_num(names);
            return 1;
          },
          &counts);
    });
    CHECK(client.Ask(MakeRequest("GET", "/shown"))->body == leaf.Der());
    CHECK(asked == 1);
    CHECK(named == 0);
  }
}

TEST_CASE("Servers with a web configuration show certificates, too; plain ones have none",
          "[server][tls][shown]") {
  const Files files;
  const MadeCertificate leaf({.name = "leaf"});
  TlsConfig config;
  config.certificate.path = files.folder.Path("tls.crt");
  config.key.path = files.folder.Path("tls.key");
  config.client_auth = ClientAuth::kRequireAnyClientCert;
  files.folder.Write("web.yml", "1");
  const AccessSources sources = {.web_config_file = files.folder.Path("web.yml"),
                                 .bearer_token_file = {},
                                 .parse = [&](const std::string&) -> Result<AccessConfig> {
                                   AccessConfig access;
                                   access.tls = config;
                                   return access;
                                 }};
  {
    Fixture fixture([](Options&) {}, sources);
    CHECK(ShownBy(fixture, &leaf, [](SSL_CTX*) {}) == leaf.Der());
  }
  Fixture plain;
  CHECK(plain.Connect().Ask(MakeRequest("GET", "/shown"))->body == "none");
}

TEST_CASE("Certificate and key are served anew when their files change, both or none",
          "[server][tls][shown][reload]") {
  // As Kubernetes mounts secrets: the files are links through ..data, which is replaced.
  const Folder folder;
  const MadeCertificate first({.name = "first"});
  const MadeCertificate second({.name = "second", .valid_days = 20});
  const MadeCertificate third({.name = "third", .valid_days = 9});
  namespace fs = std::filesystem;
  const auto mount = [&](const std::string& version, const std::string& certificate,
                         const std::string& key) {
    fs::create_directory(folder.Path(version));
    folder.Write(version + "/tls.crt", certificate);
    folder.Write(version + "/tls.key", key);
    fs::create_directory_symlink(version, folder.Path("..data_tmp"));
    fs::rename(folder.Path("..data_tmp"), folder.Path("..data"));
  };
  mount("..1", first.certificate(), first.key());
  fs::create_symlink("..data/tls.crt", folder.Path("tls.crt"));
  fs::create_symlink("..data/tls.key", folder.Path("tls.key"));
  Fixture fixture([](Options&) {},
                  CertificateFiles(folder.Path("tls.crt"), folder.Path("tls.key")));
  const auto served = [&] { return TlsClient(fixture.server->port()).Peer(); };
  TlsClient old(fixture.server->port());
  CHECK(old.Peer() == first.certificate());
  const int64_t first_expiry = fixture.counters.certificate_expiry_now_ms;

  mount("..2", second.certificate(), second.key());
  fixture.access->CheckFiles();
  CHECK(served() == second.certificate());
  CHECK(fixture.counters.certificate_expiry_now_ms - first_expiry >= 18LL * 24 * 3600 * 1000);
  CHECK(old.Ask(MakeRequest("GET", "/hello"))->body == "hello");

  mount("..3", third.certificate(), second.key());
  fixture.access->CheckFiles();
  CHECK(served() == second.certificate());
  CHECK(fixture.counters.web_config_good_now == 0);
  fs::remove(folder.Path("tls.key"));
  fixture.access->CheckFiles();
  CHECK(served() == second.certificate());
  fs::create_symlink("..data/tls.key", folder.Path("tls.key"));
  mount("..4", third.certificate(), third.key());
  fixture.access->CheckFiles();
  CHECK(served() == third.certificate());
  CHECK(fixture.counters.web_config_good_now == 1);
}

TEST_CASE("Without a certificate or key that can be served there is no access at all",
          "[server][tls][shown]") {
  const Files files;
  HttpCounters counters;
  const ManualClock clock{FromUnixMs(0)};
  const MadeCertificate other({.name = "other"});
  files.folder.Write("other.key", other.key());
  for (const auto& [certificate, key, complaint] :
       {std::tuple("tls.crt", "other.key", "does not belong to the certificate"),
        std::tuple("none.crt", "tls.key", "none.crt"),
        std::tuple("tls.key", "tls.key", "no certificates in PEM")}) {
    const auto opened = Access::Open(
        CertificateFiles(files.folder.Path(certificate), files.folder.Path(key)), counters, clock);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().message.find(complaint) != std::string::npos);
  }
}

}  // namespace
}  // namespace tidemark::server
