#pragma once
// What a TLS server is made of: certificate, key, client policy, versions, ciphers. OpenSSL's C
// interface, no Boost.

#include <memory>
#include <string>
#include <vector>

#include "model/clock.h"
#include "model/result.h"
#include "server/access_config.h"

struct ssl_ctx_st;  // SSL_CTX

namespace tidemark::server {

/// How a client's certificate is judged beyond the handshake's own rules. Lives as long as the
/// context that refers to it.
struct ClientPolicy {
  bool verify = false;                    ///< the chain must lead to a certificate of the client CA
  std::vector<std::string> allowed_sans;  ///< empty: any
};

/// Immutable once made; thread-safe. Connections keep it alive.
class TlsContext {
 public:
  /// Reads the files and checks all of it. Errors are one line that names the key of the web
  /// configuration or the file.
  static Result<std::shared_ptr<const TlsContext>> Make(const TlsConfig& config);

  ssl_ctx_st* native() const { return context_.get(); }
  /// The end of the served certificate's validity.
  TimePoint not_after() const { return not_after_; }

 private:
  TlsContext() = default;

  std::unique_ptr<ClientPolicy> policy_;
  std::shared_ptr<ssl_ctx_st> context_;
  TimePoint not_after_{};
};

/// The pending errors of OpenSSL on this thread, as one line; they are then gone. `fallback` when
/// there are none.
std::string TakeTlsErrors(std::string_view fallback);

}  // namespace tidemark::server
