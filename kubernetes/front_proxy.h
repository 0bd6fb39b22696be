#pragma once
// Who a request on the Kubernetes port is from, as an extension API server of Kubernetes finds out
// (k8s.io/apiserver, pkg/authentication/request/headerrequest and x509, v1.33): by the certificate
// of its connection. A front proxy's certificate lets it say in headers for whom it asks; anybody
// else is whom the own certificate names, whatever the headers say.
//
//   kubernetes::FrontProxy authenticator(clock);                       // lets nobody in yet
//   kubernetes::AuthenticationFileNames names = {.request_header_ca = flags.…, …};
//   auto files = kubernetes::AuthenticationFiles::Open(names, authenticator, counters);
//   if (!files) …                                                      // files.error() names one
//   (*files)->Watch();                                                 // until StopWatching
//
// Where the front proxies' CA is in the cluster's ConfigMap instead, `take` of
// AuthenticationConfigMap is
//
//   [&](const AuthenticationConfig& read) {
//     return authenticator.SetRequestHeader(read.request_header);
//   }
//
// and its ReadSoon is the constructor's `on_unknown_authority`.

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "kubernetes/authenticator.h"
#include "kubernetes/request_header_config.h"
#include "model/clock.h"
#include "model/result.h"

namespace tidemark::kubernetes {

/// Thread-safe. What it judges by can be replaced while requests come: each is judged by the one or
/// the other, and a connection that is kept alive is judged anew for each request.
class FrontProxy final : public Authenticator {
 public:
  /// Lets nobody in until something is set. `clock` must outlive it. `on_unknown_authority` is
  /// called, at each request, when a certificate is of no known CA: it may be a new one. It must
  /// return at once and may be empty.
  explicit FrontProxy(const Clock& clock, std::function<void()> on_unknown_authority = nullptr);
  ~FrontProxy() override;
  FrontProxy(const FrontProxy&) = delete;
  FrontProxy& operator=(const FrontProxy&) = delete;

  /// Replaces the one or the other half, or both. What Check says of the whole is the error, and
  /// leaves all as it was. Warnings are logged, when they are not those of before.
  Result<void> SetRequestHeader(const RequestHeaderConfig& request_header);
  Result<void> SetClientCa(const std::string& client_ca_pem);
  Result<void> Set(const AuthenticationConfig& config);

  /// In this order: a certificate of the request header CA whose CN is allowed speaks for the user
  /// that the headers name; a certificate of the client CA is its CN's, with its Os for groups;
  /// all else is denied.
  tl::expected<Identity, Denied> Authenticate(const HttpRequest& request) const override;

 private:
  struct Rules;

  Result<void> SetLocked(AuthenticationConfig config);
  std::shared_ptr<const Rules> Current() const;

  const Clock& clock_;
  const std::function<void()> on_unknown_authority_;
  std::mutex setting_;        // one change at a time
  mutable std::mutex mutex_;  // guards the pointer
  std::shared_ptr<const Rules> rules_;
};

}  // namespace tidemark::kubernetes
