#pragma once
// The certificates of a client.

#include <memory>
#include <string>
#include <vector>

#include "model/http.h"

struct ssl_st;             // SSL
struct x509_st;            // X509
struct x509_store_ctx_st;  // X509_STORE_CTX

namespace tidemark::server {

/// Subject alternative names as exporter-toolkit compares them: DNS names, e-mail addresses and
/// URIs as they stand, addresses as text (RFC 5952). A name with a zero byte is left out: it could
/// be taken for another. Thread-safe.
std::vector<std::string> SubjectAltNames(x509_st* certificate);

/// For SSL_CTX_set_cert_verify_callback; `policy` is a ClientPolicy.
int JudgeClientCertificate(x509_store_ctx_st* store, void* policy);

/// What the client of a connection showed in its handshake, in DER, its own certificate first; null
/// when it showed none.
std::shared_ptr<const PeerCertificates> ShownCertificates(const ssl_st* connection);

}  // namespace tidemark::server
