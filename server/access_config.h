#pragma once
// Who may come in and how: TLS, users, tokens, headers. Plain structs: cmd/ fills them from the web
// configuration, whose format is that of Prometheus' exporter-toolkit.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/http.h"
#include "model/result.h"

namespace tidemark::server {

/// A certificate, key or the like in PEM: the text itself, or the file that has it.
struct PemSource {
  std::string path;
  std::string text;  ///< used when there is no path

  bool empty() const { return path.empty() && text.empty(); }
};

/// Go's crypto/tls.ClientAuthType, by the same names.
enum class ClientAuth : uint8_t {
  kNoClientCert,                ///< not asked for
  kRequestClientCert,           ///< asked for, not needed, not verified
  kRequireAnyClientCert,        ///< needed, not verified
  kVerifyClientCertIfGiven,     ///< asked for, not needed, verified
  kRequireAndVerifyClientCert,  ///< needed and verified
};

enum class TlsVersion : uint8_t { kTls10, kTls11, kTls12, kTls13 };

struct TlsConfig {
  PemSource certificate;  ///< the leaf first, then its chain
  PemSource key;
  PemSource client_ca;
  ClientAuth client_auth = ClientAuth::kNoClientCert;
  /// DNS names, addresses, e-mail addresses and URIs; a client's certificate must have one of them.
  /// Empty: any will do.
  std::vector<std::string> client_allowed_sans;
  TlsVersion min_version = TlsVersion::kTls12;
  TlsVersion max_version = TlsVersion::kTls13;
  /// Names of server/tls_names.h. Empty: forward secrecy and authenticated encryption only.
  std::vector<std::string> cipher_suites;
  std::vector<std::string> curves;  ///< of server/tls_names.h; empty: X25519, P-256, P-384
  bool prefer_server_ciphers = true;
};

struct User {
  std::string name;
  std::string password_hash;  ///< bcrypt; FindBcryptProblem has nothing against it
};

/// A bucket of `burst` requests that fills by one each `interval`. An interval of 0 is no limit.
struct RateLimit {
  std::chrono::nanoseconds interval{0};
  int64_t burst = 0;

  bool operator==(const RateLimit&) const = default;
};

struct AccessConfig {
  std::optional<TlsConfig> tls;
  std::vector<User> users;  ///< empty: no password is asked for
  std::vector<HttpHeader> headers;
  RateLimit rate_limit;
  /// What is taken but likely not meant; one line each, for the log.
  std::vector<std::string> warnings;
};

/// Where the access rules come from. They are read again when one of the files changes.
struct AccessSources {
  /// For a server of its own that has no web configuration: its rules, for good; what changes are
  /// the files that they name. The other members are then empty.
  std::optional<AccessConfig> fixed{};
  std::string web_config_file;    ///< empty: no TLS and no users
  std::string bearer_token_file;  ///< empty: no tokens
  /// Parses what stands in `web_config_file`. Called on any thread, one call at a time.
  std::function<Result<AccessConfig>(const std::string& text)> parse;
};

/// The rules of a server that speaks TLS 1.2 and above with the certificate and key of two files,
/// and asks clients for certificates that its handlers judge (HttpRequest::peer_certificates): a
/// client without one, or with one of whatever CA, expired or not, can connect. No CA is named to
/// clients: Go's send a certificate only to servers that name its CA or none.
AccessSources CertificateFiles(std::string certificate_file, std::string key_file);

}  // namespace tidemark::server
