// Web configurations, good and bad: the cases that exporter-toolkit tests, and those beyond. Each
// is given to promtool, too, where that is installed: both must say the same, unless the case says
// why not.

#include "cmd/web_config.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.h"
#include "tests/server/certificates.h"

namespace tidemark::cmd {
namespace {

using server::ClientAuth;
using server::Folder;
using server::MadeCertificate;
using server::TlsVersion;

constexpr std::string_view kHash = "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";

/// What promtool 2.42 (exporter-toolkit 0.8) says of a case.
enum class Toolkit {
  kSame,
  kUnknownKey,  // newer than that version: refused by it
  kLax,         // it takes what can only be a mistake
};

struct Case {
  std::string_view name;
  std::string yaml;        // HASH stands for a bcrypt hash
  std::string_view error;  // a part of ours; empty: a good file
  Toolkit toolkit = Toolkit::kSame;
};

const std::string kTls = "tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key\n";

std::vector<Case> Cases() {
  const auto T = [](std::string_view more) { return kTls + "  " + std::string(more) + "\n"; };
  return {
      // Good.
      {"an empty file", "", ""},
      {"a comment", "# nothing\n", ""},
      {"empty sections", "tls_server_config: {}\nbasic_auth_users: {}\n", ""},
      {"a certificate and its key", kTls, ""},
      {"every suite",
       T("client_auth_type: VerifyClientCertIfGiven\n  cipher_suites: "
         "[TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, "
         "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "
         "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, "
         "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, TLS_AES_128_GCM_SHA256, "
         "TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, "
         "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, "
         "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, "
         "TLS_RSA_WITH_AES_128_CBC_SHA, TLS_RSA_WITH_AES_256_CBC_SHA, "
         "TLS_RSA_WITH_AES_128_GCM_SHA256, TLS_RSA_WITH_AES_256_GCM_SHA384]"),
       ""},
      {"some suites", T("cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]"), ""},
      {"suites of TLS 1.3 only", T("cipher_suites: [TLS_AES_128_GCM_SHA256]"), ""},
      {"the client's order", T("prefer_server_cipher_suites: false"), ""},
      {"every curve", T("curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]"), ""},
      {"one curve", T("curve_preferences: [CurveP521]"), ""},
      {"suites without HTTP/2",
       T("cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA]\nhttp_server_config: {http2: "
         "false}"),
       ""},
      {"every version", T("min_version: TLS10\n  max_version: TLS13"), ""},
      {"one version", T("min_version: TLS11\n  max_version: TLS11"), ""},
      {"no client certificate", T("client_auth_type: NoClientCert"), ""},
      {"an empty type", T("client_auth_type: \"\""), ""},
      {"a requested one", T("client_auth_type: RequestClientCert"), ""},
      {"any one", T("client_auth_type: RequireAnyClientCert"), ""},
      {"any one by its old name", T("client_auth_type: RequireClientCert"), ""},
      {"a verified one if given",
       T("client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: ca.crt"), ""},
      {"a verified one",
       T("client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt"), ""},
      {"names of clients",
       T("client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n"
         "  client_allowed_sans: [a.example, 10.0.0.1, 'spiffe://a/b', a@b.example]"),
       "", Toolkit::kUnknownKey},
      {"all in the file itself", "INLINE", "", Toolkit::kUnknownKey},
      {"users", "basic_auth_users:\n  alice: HASH\n  bob: HASH\n", ""},
      {"users and TLS", kTls + "basic_auth_users: {alice: HASH}\n", ""},
      {"every header",
       "http_server_config:\n  headers:\n    X-Frame-Options: deny\n    X-Content-Type-Options: "
       "nosniff\n    X-XSS-Protection: 1; mode=block\n    Strict-Transport-Security: "
       "max-age=31536000; includeSubDomains\n    Content-Security-Policy: \"default-src "
       "'self'\"\n",
       ""},
      {"the other frame option", "http_server_config: {headers: {X-Frame-Options: sameorigin}}\n",
       ""},
      {"HTTP/2 asked for", "http_server_config: {http2: true}\n", ""},
      {"a rate limit", "rate_limit: {interval: 100ms, burst: 20}\n", "", Toolkit::kUnknownKey},
      {"no rate limit", "rate_limit: {interval: 0, burst: 0}\n", "", Toolkit::kUnknownKey},
      {"versions alone", "tls_server_config: {min_version: TLS13}\n", ""},

      // Bad.
      {"no map", "junk\n", "web.yml:1: junk is not a map"},
      {"no YAML", "a: [\n", "web.yml:"},
      {"an unknown key", "tls_sever_config: {}\n",
       "web.yml:1: tls_sever_config: there is no such key (did you mean tls_server_config?)"},
      {"an unknown TLS key", T("cert_fiel: x"), "web.yml:4: tls_server_config.cert_fiel"},
      {"an unknown HTTP key", "http_server_config: {http3: true}\n", "http_server_config.http3"},
      {"a key twice", "basic_auth_users: {}\nbasic_auth_users: {}\n", "web.yml:2:"},
      {"no certificate", "tls_server_config:\n  key_file: tls.key\n",
       "missing one of cert or cert_file"},
      {"no key", "tls_server_config:\n  cert_file: tls.crt\n", "missing one of key or key_file"},
      {"an empty path of the certificate",
       "tls_server_config:\n  cert_file: \"\"\n  key_file: tls.key\n",
       "missing one of cert or cert_file"},
      {"an empty path of the key", "tls_server_config:\n  cert_file: tls.crt\n  key_file: \"\"\n",
       "missing one of key or key_file"},
      {"empty paths and a type",
       "tls_server_config:\n  cert_file: \"\"\n  key_file: \"\"\n  client_auth_type: "
       "NoClientCert\n",
       "missing one of cert or cert_file"},
      {"a certificate that is not there",
       "tls_server_config: {cert_file: none.crt, key_file: tls.key}\n", "none.crt"},
      {"a key that is not there", "tls_server_config: {cert_file: tls.crt, key_file: none.key}\n",
       "none.key"},
      {"a certificate that is none", "tls_server_config: {cert_file: web.yml, key_file: tls.key}\n",
       "no certificates"},
      {"a key that is none", "tls_server_config: {cert_file: tls.crt, key_file: tls.crt}\n",
       "no private key"},
      {"another's key", "tls_server_config: {cert_file: tls.crt, key_file: other.key}\n",
       "does not belong"},
      {"an unknown type", T("client_auth_type: RequireSomething"),
       "RequireSomething is unknown, allowed: NoClientCert"},
      {"a CA without a type", T("client_ca_file: ca.crt"), "without a client auth policy"},
      {"a CA that is not there",
       T("client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: none.crt"), "none.crt"},
      {"a CA without certificates",
       T("client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: tls.key"),
       "no certificates", Toolkit::kLax},
      {"names of clients that may come without",
       T("client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: ca.crt\n"
         "  client_allowed_sans: [a]"),
       "client_allowed_sans"},
      {"no name of a client",
       T("client_auth_type: RequireAnyClientCert\n  client_allowed_sans: []"),
       "no client could connect"},
      {"an invented suite", T("cipher_suites: [TLS_RSA_WITH_ROT13]"), "unknown cipher"},
      {"an insecure suite", T("cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]"), "unknown cipher"},
      {"an invented curve", T("curve_preferences: [CurveP257]"), "unknown curve"},
      {"an invented version", T("min_version: TLS111"), "TLS111 is unknown, allowed: TLS13"},
      {"SSL", T("min_version: SSL30"), "allowed: TLS13, TLS12, TLS11, TLS10"},
      {"versions the wrong way round", T("min_version: TLS13\n  max_version: TLS12"),
       "above max_version", Toolkit::kLax},
      {"a certificate twice", T("cert: x"), "exclude each other"},
      {"no boolean", T("prefer_server_cipher_suites: maybe"), "allowed: true, false"},
      {"a password that is not hashed", "basic_auth_users: {alice: secret}\n", "too short"},
      {"no password", "basic_auth_users: {alice: \"\"}\n", "too short"},
      {"another hash", "basic_auth_users: {alice: $6$abcdefgh$" + std::string(86, 'x') + "}\n",
       "too long"},
      {"a list of users", "basic_auth_users: [alice]\n", "is not a map"},
      {"another header", "http_server_config: {headers: {Server: x}}\n",
       "http_server_config.headers.Server"},
      {"a frame option that is none", "http_server_config: {headers: {X-Frame-Options: DENY}}\n",
       "allowed: deny, sameorigin"},
      {"no frame option", "http_server_config: {headers: {X-Frame-Options: \"\"}}\n",
       "allowed: deny"},
      {"a type option that is none",
       "http_server_config: {headers: {X-Content-Type-Options: sniff}}\n", "allowed: nosniff"},
      {"a header of two lines",
       "http_server_config: {headers: {X-XSS-Protection: \"a\\r\\nSet-Cookie: b\"}}\n",
       "no value of a header", Toolkit::kLax},
      {"a rate limit without a unit", "rate_limit: {interval: 1, burst: 1}\n", "is not a duration"},
      {"a rate limit that lets nothing through", "rate_limit: {interval: 1s}\n",
       "rate_limit.burst"},
  };
}

/// The files that the cases name.
struct Files {
  Files() {
    folder.Write("tls.crt", own.certificate());
    folder.Write("tls.key", own.key());
    folder.Write("other.key", ca.key());
    folder.Write("ca.crt", ca.certificate());
  }

  std::string Write(const Case& written) const {
    std::string yaml = written.yaml;
    if (yaml == "INLINE") {
      yaml = "tls_server_config:\n  client_auth_type: RequireAndVerifyClientCert\n";
      for (const auto& [key, pem] :
           {std::pair{"cert", own.certificate()}, std::pair{"key", own.key()},
            std::pair{"client_ca", ca.certificate()}}) {
        yaml += "  " + std::string(key) + ": |\n    ";
        for (const char c : pem) yaml += c == '\n' ? std::string("\n    ") : std::string(1, c);
        yaml += "\n";
      }
    }
    for (size_t at = 0; (at = yaml.find("HASH")) != std::string::npos;) yaml.replace(at, 4, kHash);
    return folder.Write("web.yml", yaml);
  }

  Folder folder;
  MadeCertificate own{{.name = "server"}};
  MadeCertificate ca{{.name = "clients", .ca = true}};
};

/// The exit code of a command; its output is thrown away.
int Run(const std::string& command) {
  const int status = std::system((command + " >/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("Every case of the web configuration is judged rightly", "[cmd][web_config]") {
  const Files files;
  for (const Case& tried : Cases()) {
    CAPTURE(tried.name, tried.yaml);
    const std::string path = files.Write(tried);
    const auto config = LoadWebConfig(path);
    INFO((config ? "" : config.error().message));
    CHECK(config.has_value() == tried.error.empty());
    if (config) continue;
    CHECK(config.error().message.find(tried.error) != std::string::npos);
    CHECK(config.error().message.find('\n') == std::string::npos);
  }
}

TEST_CASE("promtool judges the same", "[cmd][web_config]") {
  if (Run("promtool --version") != 0) {
    WARN("skipped: there is no promtool");
    return;
  }
  const Files files;
  for (const Case& tried : Cases()) {
    CAPTURE(tried.name, tried.yaml);
    const bool good = Run("promtool check web-config '" + files.Write(tried) + "'") == 0;
    switch (tried.toolkit) {
      case Toolkit::kSame: CHECK(good == tried.error.empty()); break;
      case Toolkit::kUnknownKey: CHECK_FALSE(good); break;
      case Toolkit::kLax: CHECK(good); break;
    }
  }
}

TEST_CASE("tidetool check-web-config says what the daemon would say", "[cmd][web_config]") {
  const Files files;
  for (const Case& tried : Cases()) {
    CAPTURE(tried.name, tried.yaml);
    CHECK(Run(std::string("'" TIDEMARK_TIDETOOL "' check-web-config '") + files.Write(tried) +
              "'") == (tried.error.empty() ? 0 : 2));
  }
  CHECK(Run("'" TIDEMARK_TIDETOOL "' check-web-config /nowhere/web.yml") == 2);
  CHECK(Run("'" TIDEMARK_TIDETOOL "' check-web-config") == 2);
  CHECK(Run("'" TIDEMARK_TIDETOOL "' check-web-config --help") == 0);
}

TEST_CASE("Every key of the web configuration arrives where it belongs", "[cmd][web_config]") {
  const auto config = ParseWebConfig(
      "tls_server_config:\n"
      "  cert_file: a/tls.crt\n"
      "  key_file: /b/tls.key\n"
      "  client_ca_file: ca.crt\n"
      "  client_auth_type: RequireAndVerifyClientCert\n"
      "  client_allowed_sans: [x, y]\n"
      "  min_version: TLS12\n"
      "  max_version: TLS12\n"
      "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]\n"
      "  curve_preferences: [X25519]\n"
      "  prefer_server_cipher_suites: false\n"
      "basic_auth_users: {alice: " +
          std::string(kHash) +
          "}\n"
          "http_server_config: {headers: {X-Frame-Options: deny, X-XSS-Protection: \"\"}}\n"
          "rate_limit: {interval: 1m0.5s, burst: 7}\n",
      "/etc/tidemark/web.yml");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  REQUIRE(config->tls);
  CHECK(config->tls->certificate.path == "/etc/tidemark/a/tls.crt");
  CHECK(config->tls->key.path == "/b/tls.key");
  CHECK(config->tls->client_ca.path == "/etc/tidemark/ca.crt");
  CHECK(config->tls->client_auth == ClientAuth::kRequireAndVerifyClientCert);
  CHECK(config->tls->client_allowed_sans == std::vector<std::string>{"x", "y"});
  CHECK(config->tls->min_version == TlsVersion::kTls12);
  CHECK(config->tls->max_version == TlsVersion::kTls12);
  CHECK(config->tls->cipher_suites.size() == 1);
  CHECK(config->tls->curves.size() == 1);
  CHECK_FALSE(config->tls->prefer_server_ciphers);
  REQUIRE(config->users.size() == 1);
  CHECK(config->users[0].name == "alice");
  CHECK(config->users[0].password_hash == kHash);
  REQUIRE(config->headers.size() == 1);
  CHECK(config->headers[0].value == "deny");
  CHECK(config->rate_limit.interval == std::chrono::milliseconds(60'500));
  CHECK(config->rate_limit.burst == 7);
  CHECK(config->warnings.empty());
}

TEST_CASE("The manual's example is good, and it names every key", "[cmd][web_config][docs]") {
  std::ifstream file(TIDEMARK_TEST_DATA "/../../docs/web-configuration.md");
  REQUIRE(file);
  std::string manual;
  std::string example;  // the first indented block
  bool ended = false;
  for (std::string line; std::getline(file, line);) {
    manual += line + "\n";
    const bool indented = line.starts_with("    ");
    if (indented && !ended) example += line.substr(4) + "\n";
    ended = ended || (!indented && !example.empty());
  }
  const auto config = ParseWebConfig(example, "web.yml");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  CHECK(config->tls);
  CHECK(config->users.size() == 1);
  // What the reader allows is listed in its own errors.
  for (const char* const section : {"", "tls_server_config", "http_server_config", "rate_limit",
                                    "http_server_config: {headers"}) {
    const std::string name = section;
    const std::string wrong = name.empty()                          ? "x: 1\n"
                              : name.find('{') == std::string::npos ? name + ": {x: 1}\n"
                                                                    : name + ": {x: 1}}\n";
    const auto error = ParseWebConfig(wrong, "web.yml");
    REQUIRE_FALSE(error);
    const std::string& message = error.error().message;
    const size_t allowed = message.find("allowed: ");
    REQUIRE(allowed != std::string::npos);
    std::istringstream keys(message.substr(allowed + 9));
    for (std::string key; std::getline(keys, key, ',');) {
      key.erase(0, key.find_first_not_of(' '));
      CAPTURE(key);
      CHECK((manual.find("`" + key + "`") != std::string::npos ||
             manual.find("## " + key) != std::string::npos));
    }
  }
}

TEST_CASE("What is taken but likely not meant is warned of", "[cmd][web_config]") {
  const auto warnings = [](const std::string& yaml) {
    const auto config = ParseWebConfig(yaml, "web.yml");
    INFO((config ? "" : config.error().message));
    REQUIRE(config);
    return config->warnings.size();
  };
  CHECK(warnings(kTls) == 0);
  CHECK(warnings("tls_server_config:\n") == 0);
  CHECK(warnings("tls_server_config: {min_version: TLS13}\n") == 1);
  CHECK(warnings(kTls + "  min_version: TLS11\n") == 1);
  CHECK(warnings(kTls + "  client_auth_type: RequireAnyClientCert\n") == 1);
  CHECK(warnings(kTls + "  client_auth_type: RequireAndVerifyClientCert\n") == 1);
}

TEST_CASE("An error shows neither a password nor a key", "[cmd][web_config]") {
  for (const std::string& yaml :
       {std::string("basic_auth_users: {alice: hidden}\n"),
        std::string("basic_auth_users: {alice: [hidden]}\n"),
        std::string("basic_auth_users: {alice: hidden" + std::string(70, 'x') + "}\n"),
        std::string("tls_server_config: {key: [hidden]}\n"),
        std::string("tls_server_config: {cert: hidden, key: hidden}\n")}) {
    CAPTURE(yaml);
    const Folder folder;
    const auto config = LoadWebConfig(folder.Write("web.yml", yaml));
    REQUIRE_FALSE(config);
    CHECK(config.error().message.find("hidden") == std::string::npos);
  }
}

}  // namespace tidemark::cmd
