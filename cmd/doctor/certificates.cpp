#include "cmd/doctor/certificates.h"

#include <fmt/format.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>

namespace tidemark::doctor {
namespace {

struct Free {
  void operator()(X509* x) const { X509_free(x); }
  void operator()(BIO* x) const { BIO_free_all(x); }
  void operator()(X509_STORE* x) const { X509_STORE_free(x); }
  void operator()(X509_STORE_CTX* x) const { X509_STORE_CTX_free(x); }
  void operator()(GENERAL_NAMES* x) const { GENERAL_NAMES_free(x); }
  void operator()(STACK_OF(X509) * x) const { sk_X509_pop_free(x, X509_free); }
};
using Certificate = std::unique_ptr<X509, Free>;
using Stack = std::unique_ptr<STACK_OF(X509), Free>;

Certificate Parse(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  Certificate certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  return certificate;
}

std::string DerOf(X509* certificate) {
  const int size = i2d_X509(certificate, nullptr);
  if (size <= 0) return "";
  std::string der(static_cast<size_t>(size), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  i2d_X509(certificate, &out);
  return der;
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size <= 0 ? "" : std::string(data, static_cast<size_t>(size));
}

int64_t UnixMs(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return static_cast<int64_t>(timegm(&parts)) * 1000;
}

Stack StackOf(const Chain& chain, size_t from) {
  Stack stack(sk_X509_new_null());
  for (size_t i = from; i < chain.size(); ++i) {
    if (Certificate certificate = Parse(chain[i])) sk_X509_push(stack.get(), certificate.release());
  }
  return stack;
}

}  // namespace

Result<Chain> ReadPem(std::string_view pem) {
  const std::unique_ptr<BIO, Free> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(std::min<size_t>(pem.size(), 8U << 20))));
  Chain chain;
  while (const Certificate certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    chain.push_back(DerOf(certificate.get()));
  }
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!ended) return Fail(ErrorCode::kInvalidArgument, "a certificate in it cannot be read");
  if (chain.empty()) return Fail(ErrorCode::kInvalidArgument, "no certificate stands in it");
  return chain;
}

std::string WritePem(const Chain& chain) {
  const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
  for (const std::string& der : chain) {
    if (const Certificate certificate = Parse(der))
      PEM_write_bio_X509(bio.get(), certificate.get());
  }
  return TextOf(bio.get());
}

Result<CertificateFacts> FactsOf(const std::string& der) {
  const Certificate certificate = Parse(der);
  if (!certificate) return Fail(ErrorCode::kInvalidArgument, "this is no certificate");
  CertificateFacts facts;
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), subject, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  facts.subject = TextOf(bio.get());
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) {
    unsigned char* utf8 = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size > 0)
      facts.common_name.assign(reinterpret_cast<char*>(utf8), static_cast<size_t>(size));
    OPENSSL_free(utf8);
  }
  const std::unique_ptr<GENERAL_NAMES, Free> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const ASN1_STRING* const text = name->d.dNSName;
    facts.dns_names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                 static_cast<size_t>(ASN1_STRING_length(text)));
  }
  facts.not_before_ms = UnixMs(X509_get0_notBefore(certificate.get()));
  facts.not_after_ms = UnixMs(X509_get0_notAfter(certificate.get()));
  ERR_clear_error();
  return facts;
}

std::string WhyNotTrusted(const Chain& served, const Chain& authorities, int64_t now_ms) {
  const Certificate leaf = served.empty() ? nullptr : Parse(served.front());
  if (!leaf) return "no certificate was shown";
  const std::unique_ptr<X509_STORE, Free> store(X509_STORE_new());
  for (const std::string& der : authorities) {
    if (const Certificate authority = Parse(der)) X509_STORE_add_cert(store.get(), authority.get());
  }
  const Stack between = StackOf(served, 1);
  const std::unique_ptr<X509_STORE_CTX, Free> context(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(context.get(), store.get(), leaf.get(), between.get()) != 1) {
    return "it cannot be verified";
  }
  X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(rules, static_cast<time_t>(now_ms / 1000));
  X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_SSL_SERVER);
  // Go takes whatever stands in its pool for a root (crypto/x509).
  X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN);
  const bool good = X509_verify_cert(context.get()) == 1;
  const int why = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  return good ? "" : X509_verify_cert_error_string(why);
}

bool IsFor(const std::string& der, const std::string& dns_name) {
  const Certificate certificate = Parse(der);
  return certificate &&
         X509_check_host(certificate.get(), dns_name.data(), dns_name.size(),
                         X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
                         nullptr) == 1;
}

bool HaveCommon(const Chain& some, const Chain& others) {
  return std::ranges::any_of(
      some, [&](const std::string& der) { return std::ranges::find(others, der) != others.end(); });
}

}  // namespace tidemark::doctor
