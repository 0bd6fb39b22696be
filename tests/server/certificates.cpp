#include "tests/server/certificates.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/catch.h"

namespace tidemark::server {
namespace {

template <class Write>
std::string Pem(Write write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  REQUIRE(write(bio) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  REQUIRE(extension != nullptr);
  REQUIRE(X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

}  // namespace

MadeCertificate::MadeCertificate(const Wish& wish)
    : pkey_(wish.key_of == nullptr ? std::shared_ptr<EVP_PKEY>(EVP_EC_gen("P-256"), EVP_PKEY_free)
                                   : wish.key_of->pkey_),
      x509_(X509_new(), X509_free) {
  X509* const certificate = x509_.get();
  X509* const issuer = wish.issuer == nullptr ? certificate : wish.issuer->x509();
  EVP_PKEY* const signer = wish.issuer == nullptr ? pkey_.get() : wish.issuer->pkey();
  X509_set_version(certificate, X509_VERSION_3);
  uint32_t serial = 0;
  REQUIRE(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), static_cast<long>(serial >> 1) + 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 3600L * 24 * wish.valid_from_days);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600L * 24 * wish.valid_days);
  X509_set_pubkey(certificate, pkey_.get());
  const auto add_name = [certificate](const char* field, const std::string& value) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.data()),
                               static_cast<int>(value.size()), -1, 0);
  };
  for (const std::string& organisation : wish.organisations) add_name("O", organisation);
  if (!wish.name.empty()) add_name("CN", wish.name);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  if (wish.ca) AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
  if (!wish.usage.empty()) AddExtension(certificate, issuer, NID_ext_key_usage, wish.usage);
  std::string names;
  for (const std::string& san : wish.sans) names += (names.empty() ? "" : ",") + san;
  if (!names.empty()) AddExtension(certificate, issuer, NID_subject_alt_name, names);
  REQUIRE(X509_sign(certificate, signer, EVP_sha256()) > 0);
  certificate_pem_ = Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
  key_pem_ = Pem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, pkey_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string MadeCertificate::Der() const {
  unsigned char* der = nullptr;
  const int size = i2d_X509(x509_.get(), &der);
  REQUIRE(size > 0);
  std::string text(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return text;
}

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tidemark_XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

std::string Folder::Path(std::string_view name) const { return path_ + "/" + std::string(name); }

std::string Folder::Write(std::string_view name, std::string_view content) const {
  const std::string path = Path(name);
  std::ofstream(path + ".new", std::ios::binary) << content;
  std::filesystem::rename(path + ".new", path);
  return path;
}

}  // namespace tidemark::server
