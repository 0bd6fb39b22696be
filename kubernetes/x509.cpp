#include "kubernetes/x509.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <limits>

namespace tidemark::kubernetes {
namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

/// A certificate has no pass phrase; the library would ask for one on the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

}  // namespace

Result<std::vector<Certificate>> ReadCertificates(const std::string& pem, std::string_view name) {
  const auto bad = [name](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, std::string(name) + ": " + std::string(what));
  };
  if (pem.size() > std::numeric_limits<int>::max()) return bad("too large");
  ERR_clear_error();
  const std::unique_ptr<BIO, FreeBio> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> certificates;
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(next);
  }
  const unsigned long last = ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_end) {
    return bad("certificate " + std::to_string(certificates.size() + 1) +
               " of the PEM cannot be read");
  }
  if (certificates.empty()) return bad("there is no certificate in PEM in it");
  return certificates;
}

Certificate ReadDer(std::string_view der) {
  const auto* position = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = position + der.size();
  Certificate certificate(d2i_X509(nullptr, &position, static_cast<long>(der.size())));
  ERR_clear_error();
  if (certificate && position != end) return nullptr;
  return certificate;
}

}  // namespace tidemark::kubernetes
