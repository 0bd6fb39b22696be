#pragma once
// Certificates as OpenSSL holds them. Internal to kubernetes/.

#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tidemark::kubernetes {

struct FreeX509 {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, FreeX509>;

/// All certificates of a PEM text, at least one; what stands between them is passed over. Errors
/// (kInvalidArgument) begin with `name`. Thread-safe.
Result<std::vector<Certificate>> ReadCertificates(const std::string& pem, std::string_view name);

/// Null when the bytes are no certificate, or more than one.
Certificate ReadDer(std::string_view der);

}  // namespace tidemark::kubernetes
