#pragma once
// By which CAs, names and headers requests on the Kubernetes port are told apart. Plain values, and
// the one place where they are judged, wherever they come from: files (authentication_files.h) or
// the ConfigMap kube-system/extension-apiserver-authentication, whose keys the members are named
// after.

#include <string>
#include <vector>

#include "model/result.h"

namespace tidemark::kubernetes {

/// How a front proxy (kube-apiserver's aggregation layer) is known, and what it says of the user
/// that it asks for. Header names are compared without regard to case.
struct RequestHeaderConfig {
  /// `requestheader-client-ca-file`: certificates in PEM, each trusted. Empty: no front proxy is
  /// known.
  std::string ca_pem;
  /// `requestheader-allowed-names`: CNs of front proxies. Empty: every certificate of the CA is one
  /// of a front proxy.
  std::vector<std::string> allowed_names;
  std::vector<std::string> username_headers = {"X-Remote-User"};
  std::vector<std::string> uid_headers = {"X-Remote-Uid"};  ///< since Kubernetes 1.32
  std::vector<std::string> group_headers = {"X-Remote-Group"};
  std::vector<std::string> extra_header_prefixes = {"X-Remote-Extra-"};

  friend bool operator==(const RequestHeaderConfig&, const RequestHeaderConfig&) = default;
};

struct AuthenticationConfig {
  RequestHeaderConfig request_header;
  /// `client-ca-file`: whom a certificate of this CA (PEM) names, is that user. Empty: users do not
  /// come with certificates of their own.
  std::string client_ca_pem;

  friend bool operator==(const AuthenticationConfig&, const AuthenticationConfig&) = default;
};

/// Whether requests can be judged by it: at least one of the two CAs is given, each has at least
/// one certificate and nothing unreadable in its PEM, the header names are names, and with a front
/// proxy's CA there is a header for the user. Errors (kInvalidArgument) are one line that names the
/// key of the ConfigMap. Thread-safe.
Result<void> Check(const AuthenticationConfig& config);

/// What is taken but likely not meant, a line each, for the log: with no allowed names and one CA
/// for front proxies and users, every user could speak for every other one. Of a configuration that
/// Check has nothing against.
std::vector<std::string> Warnings(const AuthenticationConfig& config);

}  // namespace tidemark::kubernetes
