#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

#include "cmd/doctor/certificates.h"

namespace tidemark::doctor {
namespace {

constexpr unsigned kLookEveryMs = 20;

struct Free {
  void operator()(SSL_CTX* x) const { SSL_CTX_free(x); }
  void operator()(BIO* x) const { BIO_free_all(x); }
};

std::string LastError() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "no answer in time" : reason;
}

std::string DerOf(const X509* certificate) {
  const int size = i2d_X509(certificate, nullptr);
  if (size <= 0) return "";
  std::string der(static_cast<size_t>(size), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  i2d_X509(certificate, &out);
  return der;
}

}  // namespace

Result<Chain> FetchServedChain(const std::string& host, const std::string& port,
                               const std::string& server_name, std::chrono::seconds timeout) {
  const std::string where = host.find(':') == std::string::npos
                                ? fmt::format("{}:{}", host, port)
                                : fmt::format("[{}]:{}", host, port);
  ERR_clear_error();
  const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  const std::unique_ptr<BIO, Free> bio(BIO_new_ssl_connect(context.get()));
  SSL* ssl = nullptr;
  BIO_get_ssl(bio.get(), &ssl);
  if (ssl == nullptr) return Fail(ErrorCode::kInternal, "TLS cannot be set up");
  SSL_set_tlsext_host_name(ssl, server_name.c_str());
  BIO_set_conn_hostname(bio.get(), where.c_str());
  if (BIO_do_connect_retry(bio.get(), static_cast<int>(timeout.count()), kLookEveryMs) != 1 ||
      SSL_is_init_finished(ssl) == 0) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", where, LastError()));
  }
  Chain chain;
  const STACK_OF(X509)* const shown = SSL_get_peer_cert_chain(ssl);
  for (int i = 0; i < sk_X509_num(shown); ++i) chain.push_back(DerOf(sk_X509_value(shown, i)));
  ERR_clear_error();
  if (chain.empty()) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: no certificate was shown", where));
  }
  return chain;
}

}  // namespace tidemark::doctor
