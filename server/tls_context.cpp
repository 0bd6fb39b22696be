#include "server/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <chrono>
#include <ctime>
#include <string_view>
#include <utility>

#include "server/client_certificate.h"
#include "server/small_file.h"
#include "server/tls_names.h"

namespace tidemark::server {
namespace {

using namespace std::string_literals;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;

tl::unexpected<Error> Wrong(const std::string& text) {
  return Fail(ErrorCode::kInvalidArgument, text);
}

/// A PEM text and how to name where it stands.
struct Pem {
  std::string name;  // "cert_file /etc/tls.crt" or "cert"
  std::string text;
};

Result<Pem> Read(const PemSource& source, const std::string& key) {
  if (source.path.empty()) return Pem{key, source.text};
  auto text = ReadSmallFile(source.path);
  if (!text) return Fail(text.error().code, key + "_file: " + text.error().message);
  return Pem{key + "_file " + source.path, std::move(*text)};
}

Bio Open(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// A key with a pass phrase is an error; the library would ask for it on the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

Result<std::vector<Certificate>> ReadCertificates(const Pem& pem) {
  const Bio bio = Open(pem.text);
  std::vector<Certificate> certificates;
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(next);
  }
  const unsigned long last = ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  const std::string trouble = TakeTlsErrors("unreadable");
  if (certificates.empty() || !at_end) {
    return Wrong(pem.name + ": no certificates in PEM can be read from it" +
                 (at_end ? ""s : ": " + trouble));
  }
  return certificates;
}

TimePoint NotAfter(const X509* certificate) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return TimePoint{};
  return TimePoint(std::chrono::seconds(timegm(&parts)));
}

Result<TimePoint> UseCertificate(SSL_CTX* context, const TlsConfig& config) {
  const auto certificate_pem = Read(config.certificate, "cert");
  if (!certificate_pem) return tl::unexpected(certificate_pem.error());
  const auto key_pem = Read(config.key, "key");
  if (!key_pem) return tl::unexpected(key_pem.error());

  const auto chain = ReadCertificates(*certificate_pem);
  if (!chain) return tl::unexpected(chain.error());
  if (SSL_CTX_use_certificate(context, chain->front().get()) != 1) {
    return Wrong(certificate_pem->name +
                 ": the certificate cannot be served: " + TakeTlsErrors("unknown reason"));
  }
  for (size_t i = 1; i < chain->size(); ++i) SSL_CTX_add1_chain_cert(context, (*chain)[i].get());

  const Bio bio = Open(key_pem->text);
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  if (!key) {
    TakeTlsErrors("");
    return Wrong(key_pem->name +
                 ": no private key in PEM, without a pass phrase, can be read "
                 "from it");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    TakeTlsErrors("");
    return Wrong(key_pem->name + ": the private key does not belong to the certificate of " +
                 certificate_pem->name);
  }
  return NotAfter(chain->front().get());
}

int NativeVersion(TlsVersion version) {
  switch (version) {
    case TlsVersion::kTls10: return TLS1_VERSION;
    case TlsVersion::kTls11: return TLS1_1_VERSION;
    case TlsVersion::kTls12: return TLS1_2_VERSION;
    case TlsVersion::kTls13: return TLS1_3_VERSION;
  }
  return TLS1_2_VERSION;
}

/// The suites of the list, or all with forward secrecy and authenticated encryption; before TLS
/// 1.2 there is no such encryption.
std::string CipherList(const TlsConfig& config) {
  std::string list;
  const auto add = [&list](std::string_view name) {
    list.append(list.empty() ? "" : ":").append(name);
  };
  if (!config.cipher_suites.empty()) {
    for (const std::string& name : config.cipher_suites) {
      const TlsName* const known = FindTlsName(kCipherSuites, name);
      if (known != nullptr && !known->tls13) add(known->openssl);
    }
    return list;
  }
  for (const TlsName& suite : kCipherSuites) {
    const bool ephemeral = suite.go.starts_with("TLS_ECDHE_");
    const bool aead = !suite.go.ends_with("_CBC_SHA");
    if (ephemeral && (aead || config.min_version < TlsVersion::kTls12)) add(suite.openssl);
  }
  return list;
}

Result<void> UseCiphers(SSL_CTX* context, const TlsConfig& config) {
  TlsVersion min_version = config.min_version;
  if (min_version > config.max_version) {
    return Wrong("tls_server_config: min_version is above max_version: no client could connect");
  }
  const std::string ciphers = CipherList(config);
  if (ciphers.empty()) {  // suites of TLS 1.3 alone: nothing older can be spoken
    if (config.max_version < TlsVersion::kTls13) {
      return Wrong(
          "tls_server_config.cipher_suites: none of them is for the versions of TLS that "
          "are allowed");
    }
    min_version = TlsVersion::kTls13;
  }
  // Level 2 keeps short keys and SHA-1 out; TLS 1.0 and 1.1 sign with SHA-1 and need level 0.
  SSL_CTX_set_security_level(context, min_version < TlsVersion::kTls12 ? 0 : 2);
  std::string curves;
  for (const std::string& name : config.curves) {
    if (const TlsName* const known = FindTlsName(kCurves, name)) {
      curves.append(curves.empty() ? "" : ":").append(known->openssl);
    }
  }
  if (curves.empty()) curves = "X25519:P-256:P-384";
  if (SSL_CTX_set_min_proto_version(context, NativeVersion(min_version)) != 1 ||
      SSL_CTX_set_max_proto_version(context, NativeVersion(config.max_version)) != 1 ||
      (!ciphers.empty() && SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1) ||
      SSL_CTX_set1_groups_list(context, curves.c_str()) != 1) {
    return Wrong("tls_server_config: versions, cipher suites or curves cannot be set: " +
                 TakeTlsErrors("unknown reason"));
  }
  return {};
}

Result<void> UseClientPolicy(SSL_CTX* context, const TlsConfig& config, ClientPolicy& policy) {
  if (!config.client_ca.empty()) {
    const auto pem = Read(config.client_ca, "client_ca");
    if (!pem) return tl::unexpected(pem.error());
    const auto certificates = ReadCertificates(*pem);
    if (!certificates) return tl::unexpected(certificates.error());
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    for (const Certificate& certificate : *certificates) {
      X509_STORE_add_cert(store, certificate.get());
      SSL_CTX_add_client_CA(context, certificate.get());
    }
    // Each certificate of the file is trusted for itself, as in Go: an intermediate one without
    // its root, too.
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  }
  int mode = SSL_VERIFY_NONE;
  switch (config.client_auth) {
    case ClientAuth::kNoClientCert: break;
    case ClientAuth::kRequestClientCert:
    case ClientAuth::kVerifyClientCertIfGiven: mode = SSL_VERIFY_PEER; break;
    case ClientAuth::kRequireAnyClientCert:
    case ClientAuth::kRequireAndVerifyClientCert:
      mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
      break;
  }
  policy.verify = config.client_auth == ClientAuth::kVerifyClientCertIfGiven ||
                  config.client_auth == ClientAuth::kRequireAndVerifyClientCert;
  policy.allowed_sans = config.client_allowed_sans;
  SSL_CTX_set_verify(context, mode, nullptr);
  SSL_CTX_set_cert_verify_callback(context, JudgeClientCertificate, &policy);
  return {};
}

/// HTTP/1.1 is all that is spoken; a client that offers nothing we know goes on without ALPN.
int SelectProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* in, unsigned in_size, void*) {
  static constexpr std::string_view kHttp11 = "http/1.1";
  for (size_t i = 0; i < in_size; i += 1 + in[i]) {
    const std::string_view name(reinterpret_cast<const char*>(in) + i + 1, in[i]);
    if (name != kHttp11) continue;
    *out = in + i + 1;
    *out_size = in[i];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

std::string TakeTlsErrors(std::string_view fallback) {
  std::string text;
  while (const unsigned long code = ERR_get_error()) {
    const char* const reason = ERR_reason_error_string(code);
    if (!text.empty()) text += ", ";
    text += reason == nullptr ? "error " + std::to_string(code) : std::string(reason);
  }
  return text.empty() ? std::string(fallback) : text;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::Make(const TlsConfig& config) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext());
  made->context_ = std::shared_ptr<SSL_CTX>(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX* const context = made->context_.get();
  if (context == nullptr) {
    return Fail(ErrorCode::kInternal, "TLS cannot be set up: " + TakeTlsErrors("unknown reason"));
  }
  // A resumed session would skip the judgement of the client's certificate, and connections live
  // long: there is nothing to gain from tickets.
  uint64_t options = SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;
  if (config.prefer_server_ciphers) options |= SSL_OP_CIPHER_SERVER_PREFERENCE;
  SSL_CTX_set_options(context, options);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, SelectProtocol, nullptr);

  if (auto done = UseCiphers(context, config); !done) return tl::unexpected(done.error());
  auto not_after = UseCertificate(context, config);
  if (!not_after) return tl::unexpected(not_after.error());
  made->not_after_ = *not_after;
  made->policy_ = std::make_unique<ClientPolicy>();
  if (auto done = UseClientPolicy(context, config, *made->policy_); !done) {
    return tl::unexpected(done.error());
  }
  return std::shared_ptr<const TlsContext>(std::move(made));
}

}  // namespace tidemark::server
