#pragma once
// Who front proxies are, from the ConfigMap kube-system/extension-apiserver-authentication, where
// every kube-apiserver publishes it (k8s.io/apiserver, pkg/server/options/authentication.go). Read
// when it starts, every minute, and when it is asked to, so that a CA that is replaced is taken
// over while everything runs on.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "client/http_client.h"
#include "client/options.h"
#include "kubernetes/request_header_config.h"
#include "model/kubernetes_counters.h"
#include "model/result.h"

namespace tidemark::kubernetes {

inline constexpr std::string_view kAuthenticationConfigMapPath =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

/// From the ConfigMap as JSON. A header list that is not there is empty: that kube-apiserver sets
/// no such header. Without `with_client_ca`, client_ca_pem stays empty: users' certificates are for
/// kube-apiserver to judge, unless somebody wants them judged here too. kInvalidArgument, naming
/// the key, for what Check does not let pass and for a kube-apiserver that has no front proxy.
Result<AuthenticationConfig> ParseAuthenticationConfigMap(std::string_view json,
                                                          bool with_client_ca);

/// Why a read failed, as it is logged: one fixed kind each.
enum class ConfigMapFault : uint8_t {
  kForbidden,     ///< 403: the RoleBinding is missing
  kUnauthorized,  ///< 401
  kNotFound,      ///< 404: no kube-apiserver wrote it
  kUnreachable,   ///< any other trouble on the way, 5xx among them
  kBad,           ///< what is in it cannot be used
};

struct ConfigMapOptions {
  client::HttpClientOptions api;  ///< of the Kubernetes API, e.g. client::InClusterOptions
  bool with_client_ca = false;
  std::chrono::milliseconds every{60'000};  ///< after a good read
  /// After a failed one: from the first, doubled, to the most; half as much and half again by
  /// chance, so that many programs do not come back together.
  std::chrono::milliseconds first_retry{800};
  std::chrono::milliseconds most_retry{30'000};
  /// Between reads that are asked for by ReadSoon: whoever connects can bring them about.
  std::chrono::milliseconds least_between{5'000};
  uint32_t seed = 0;  ///< of the chance; 0: of the machine's
};

/// Takes a configuration that Check has let pass; an error leaves the one before in force.
using TakeAuthentication = std::function<Result<void>(const AuthenticationConfig&)>;

/// Reads in a thread of its own from Start on. Thread-safe.
///
/// A failed read leaves the last good configuration in force, sets
/// KubernetesCounters::authentication_good_now to 0 and is logged once per kind and minute.
class AuthenticationConfigMap {
 public:
  /// kInvalidArgument for options that cannot be. `take` is called from the thread, when something
  /// has changed only; it and `counters` must outlive the object.
  static Result<std::unique_ptr<AuthenticationConfigMap>> Start(const ConfigMapOptions& options,
                                                                TakeAuthentication take,
                                                                KubernetesCounters& counters);
  ~AuthenticationConfigMap();
  AuthenticationConfigMap(const AuthenticationConfigMap&) = delete;
  AuthenticationConfigMap& operator=(const AuthenticationConfigMap&) = delete;

  /// Asks for a read before its time, as when somebody shows a certificate of an authority that is
  /// not known: it may be a new one. Does not wait.
  void ReadSoon();
  /// A configuration has been taken, ever.
  bool has_taken() const;
  /// Ends a request under way and the thread; at once. Nothing is read any more.
  void StopWatching();

 private:
  AuthenticationConfigMap(const ConfigMapOptions& options,
                          std::unique_ptr<client::HttpClient> client, TakeAuthentication take,
                          KubernetesCounters& counters);
  void Run(const std::stop_token& stop);
  bool ReadOnce(const std::stop_token& stop);
  void Fail(ConfigMapFault fault, const std::string& what);

  const ConfigMapOptions options_;
  const std::unique_ptr<client::HttpClient> client_;
  const TakeAuthentication take_;
  KubernetesCounters& counters_;
  std::optional<AuthenticationConfig> taken_;  // by the thread only
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ = false;
  bool has_taken_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace tidemark::kubernetes
