#include "server/client_certificate.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "server/tls_context.h"

namespace tidemark::server {
namespace {

std::string_view TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(std::max(ASN1_STRING_length(text), 0))};
}

/// Empty when the bytes are no address. An IPv4 address in IPv6's form is written as IPv4, as Go
/// does.
std::string AddressText(std::string_view bytes) {
  static constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
  if (bytes.size() == 16 && bytes.starts_with(kMapped)) bytes.remove_prefix(kMapped.size());
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.size() == 4) {
    inet_ntop(AF_INET, bytes.data(), text.data(), text.size());
  } else if (bytes.size() == 16) {
    inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  }
  return text.data();
}

void AppendDer(const X509* certificate, PeerCertificates& shown) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate, &der);
  if (size <= 0) return;
  shown.emplace_back(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
}

}  // namespace

std::vector<std::string> SubjectAltNames(x509_st* certificate) {
  struct Free {
    void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
  };
  const std::unique_ptr<GENERAL_NAMES, Free> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> found;
  if (!names) return found;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    std::string text;
    switch (name->type) {
      case GEN_DNS: text = std::string(TextOf(name->d.dNSName)); break;
      case GEN_EMAIL: text = std::string(TextOf(name->d.rfc822Name)); break;
      case GEN_URI: text = std::string(TextOf(name->d.uniformResourceIdentifier)); break;
      case GEN_IPADD: text = AddressText(TextOf(name->d.iPAddress)); break;
      default: break;
    }
    if (text.empty() || text.find('\0') != std::string::npos) continue;
    found.push_back(std::move(text));
  }
  return found;
}

int JudgeClientCertificate(x509_store_ctx_st* store, void* policy_pointer) {
  const auto& policy = *static_cast<const ClientPolicy*>(policy_pointer);
  if (policy.verify && X509_verify_cert(store) != 1) return 0;
  if (policy.allowed_sans.empty()) {
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
  }
  const std::vector<std::string> names = SubjectAltNames(X509_STORE_CTX_get0_cert(store));
  const bool allowed = std::ranges::any_of(names, [&](const std::string& name) {
    return std::ranges::find(policy.allowed_sans, name) != policy.allowed_sans.end();
  });
  X509_STORE_CTX_set_error(store, allowed ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
  return allowed ? 1 : 0;
}

std::shared_ptr<const PeerCertificates> ShownCertificates(const ssl_st* connection) {
  const X509* const own = SSL_get0_peer_certificate(connection);
  if (own == nullptr) return nullptr;
  auto shown = std::make_shared<PeerCertificates>();
  AppendDer(own, *shown);
  // Of a client the chain is without its own certificate; of a server it would be with it.
  const STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(connection);
  for (int i = 0; i < sk_X509_num(chain); ++i) AppendDer(sk_X509_value(chain, i), *shown);
  return shown;
}

}  // namespace tidemark::server
