#pragma once
// Certificates as the checks see them: texts of DER in, facts out. No type of OpenSSL's leaves.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tidemark::doctor {

using Chain = std::vector<std::string>;  ///< each in DER, the leaf first

/// All certificates of a PEM text, at least one. kInvalidArgument: none, or one that cannot be
/// read.
Result<Chain> ReadPem(std::string_view pem);
std::string WritePem(const Chain& chain);

struct CertificateFacts {
  std::string subject;                 ///< e.g. "CN=tidemark", UTF-8
  std::vector<std::string> dns_names;  ///< of the SAN
  std::string common_name;             ///< the first; may be empty
  int64_t not_before_ms = 0;
  int64_t not_after_ms = 0;
};
/// kInvalidArgument for what is no certificate.
Result<CertificateFacts> FactsOf(const std::string& der);

/// Why whoever trusts `authorities` would not take this chain from a server at that time, in
/// OpenSSL's words; empty: they would. Names are not looked at.
std::string WhyNotTrusted(const Chain& served, const Chain& authorities, int64_t now_ms);
/// Whether the leaf is for this DNS name (RFC 6125: SAN only, wildcards of one label).
bool IsFor(const std::string& der, const std::string& dns_name);
/// Whether one of `some` stands among `others` too.
bool HaveCommon(const Chain& some, const Chain& others);

/// What a TLS server shows. Nothing is verified. kUnavailable: nobody answers, or not in TLS.
Result<Chain> FetchServedChain(const std::string& host, const std::string& port,
                               const std::string& server_name, std::chrono::seconds timeout);

}  // namespace tidemark::doctor
