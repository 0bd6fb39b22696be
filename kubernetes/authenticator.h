#pragma once
// Who asks, on the Kubernetes port.

#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "model/http.h"
#include "model/kubernetes_counters.h"

namespace tidemark::kubernetes {

struct Identity {
  std::string user;
  std::vector<std::string> groups;
  /// By a front proxy (kube-apiserver's aggregation layer), which has authorised the request; else
  /// by a certificate of the user's own.
  bool by_front_proxy = false;
  std::string uid{};  ///< may be empty
  /// What else the front proxy knows of the user, such as its pod: key, in lower case, to values.
  std::map<std::string, std::vector<std::string>> extra{};
};

struct Denied {
  AccessDenial why = AccessDenial::kNoCertificate;
  std::string message;  ///< one sentence for the client: what is missing and what to do
};

/// Thread-safe; must not wait.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  /// By the certificate that the connection showed, judged at the time of the request, and, where
  /// it is a front proxy's, by the headers that it sets. Headers mean nothing without it.
  virtual tl::expected<Identity, Denied> Authenticate(const HttpRequest& request) const = 0;
};

}  // namespace tidemark::kubernetes
