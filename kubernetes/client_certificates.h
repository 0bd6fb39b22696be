#pragma once
// Whether a client's certificate is one of a CA, for clients, and valid at the time of a request:
// a connection that was made while it was so loses its rights when the certificate expires.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/clock.h"
#include "model/http.h"
#include "model/result.h"

struct x509_store_st;  // X509_STORE

namespace tidemark::kubernetes {

/// Whom a certificate is about. Kubernetes takes CN for the user and each O for a group.
struct CertificateSubject {
  std::string common_name;  ///< the last one, as Go's crypto/x509 has it; may be empty
  std::vector<std::string> organisations;
};

struct CertificateFault {
  enum class Kind : uint8_t {
    kUnknownAuthority,  ///< no way from it to the CA
    kExpired,           ///< it or a certificate on the way
    kNotYetValid,
    kNotForClients,  ///< its (extended) key usage does not have clientAuth
    kBad,            ///< no certificate, or one with keys or signatures that are too weak
  };
  Kind kind = Kind::kBad;
  std::string what;  ///< goes behind "the client certificate"
};

/// The certificates of one CA (with its predecessors, while it is replaced). Immutable but for a
/// cache: judging the same connection's certificates again costs a look-up. Thread-safe.
class ClientCertificates {
 public:
  /// Each certificate of the PEM text is trusted by itself, intermediate ones too, as in Go. Errors
  /// (kInvalidArgument) begin with `name`.
  static Result<std::unique_ptr<ClientCertificates>> Make(const std::string& ca_pem,
                                                          std::string_view name);

  /// The subject of the chain's first certificate, by the rules of RFC 5280 for clientAuth at
  /// `now`. Keys under 112 bits of strength and SHA-1 are refused. The chain is remembered by its
  /// owner, for as long as that lives; the one that is refused, for a second.
  tl::expected<std::shared_ptr<const CertificateSubject>, CertificateFault> Judge(
      const std::shared_ptr<const PeerCertificates>& chain, TimePoint now) const;

  ClientCertificates(const ClientCertificates&) = delete;
  ClientCertificates& operator=(const ClientCertificates&) = delete;

 private:
  /// What was found, and from when until before when that stands.
  struct Verdict {
    tl::expected<std::shared_ptr<const CertificateSubject>, CertificateFault> found;
    int64_t from_s = 0;
    int64_t until_s = 0;
  };
  struct Entry {
    std::weak_ptr<const PeerCertificates>
        chain;  ///< whose verdict it is, wherever another lies now
    std::shared_ptr<const Verdict> verdict;
  };

  explicit ClientCertificates(std::vector<std::shared_ptr<x509_store_st>> stores)
      : stores_(std::move(stores)) {}
  Verdict Verify(const PeerCertificates& chain, int64_t now_s) const;
  std::shared_ptr<const Verdict> Remembered(const std::shared_ptr<const PeerCertificates>& chain,
                                            int64_t now_s) const;
  void Remember(const std::shared_ptr<const PeerCertificates>& chain,
                std::shared_ptr<const Verdict> verdict) const;

  /// All certificates together; then, alone, each that shares its subject with another one. OpenSSL
  /// takes the first issuer of that name and looks no further when the signature is not its own,
  /// which would shut half of the clients out while a CA is replaced by one of the same name.
  const std::vector<std::shared_ptr<x509_store_st>> stores_;
  mutable std::mutex mutex_;  // guards the cache
  mutable std::unordered_map<const PeerCertificates*, Entry> cache_;
};

}  // namespace tidemark::kubernetes
