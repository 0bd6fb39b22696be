#pragma once
// How a server is reached: plain structs, named as Prometheus' http_config names them.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/result.h"

namespace tidemark::client {

struct BasicAuth {
  std::string username;  ///< empty: none
  std::string password;
  std::string password_file;  ///< instead of `password`; read again for each request
};

/// A bearer token (RFC 6750).
struct Authorization {
  std::string credentials;
  std::string credentials_file;  ///< instead of `credentials`; read again for each request
};

/// PEM, as files or as text; files are read again for each connection.
struct TlsConfig {
  std::string ca_file;  ///< empty, and no `ca`: the system's
  std::string ca;
  std::string cert_file;
  std::string cert;
  std::string key_file;
  std::string key;
  std::string server_name;  ///< that the certificate must be for; empty: the URL's host
  bool insecure_skip_verify = false;
};

struct HttpClientOptions {
  std::string url;  ///< `http://HOST[:PORT][/PREFIX]` or https; paths are put behind it
  BasicAuth basic_auth;
  Authorization authorization;
  TlsConfig tls_config;
  std::vector<std::pair<std::string, std::string>> http_headers;  ///< sent with each request
  std::string user_agent;  ///< empty: "tidemark"; printable ASCII
  std::string proxy_url;   ///< empty: none, whatever the environment says
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{120'000};  ///< of a whole request
  uint64_t max_response_bytes = 64ULL << 20;   ///< unpacked
};

/// kInvalidArgument, without a secret in the text: which option is wrong and what is allowed.
/// Files are not looked at.
Result<void> CheckOptions(const HttpClientOptions& options);
Result<void> CheckUrl(std::string_view url);
/// `name` must not be one that the client sets itself.
Result<void> CheckHeader(std::string_view name, std::string_view value);

/// Something to prove who we are with is in it.
bool HasCredentials(const HttpClientOptions& options);

}  // namespace tidemark::client
