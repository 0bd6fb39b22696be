#include "kubernetes/front_proxy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kubernetes/client_certificates.h"
#include "kubernetes/proxied_user.h"
#include "model/log.h"

namespace tidemark::kubernetes {
namespace {

using Outcome = tl::expected<Identity, Denied>;
using Kind = CertificateFault::Kind;

tl::unexpected<Denied> Deny(AccessDenial why, std::string message) {
  return tl::unexpected<Denied>(Denied{why, std::move(message)});
}

Result<std::unique_ptr<ClientCertificates>> MakeIfAny(const std::string& pem,
                                                      std::string_view name) {
  if (pem.empty()) return nullptr;
  return ClientCertificates::Make(pem, name);
}

}  // namespace

/// What is in force at one time. Immutable.
struct FrontProxy::Rules {
  AuthenticationConfig config;
  std::vector<std::string> warnings;
  std::unique_ptr<ClientCertificates> proxies;  ///< null: no front proxy is known
  std::unique_ptr<ClientCertificates> users;    ///< null: users come through a front proxy only
};

FrontProxy::FrontProxy(const Clock& clock, std::function<void()> on_unknown_authority)
    : clock_(clock),
      on_unknown_authority_(std::move(on_unknown_authority)),
      rules_(std::make_shared<const Rules>()) {}

FrontProxy::~FrontProxy() = default;

std::shared_ptr<const FrontProxy::Rules> FrontProxy::Current() const {
  const std::lock_guard lock(mutex_);
  return rules_;
}

Result<void> FrontProxy::SetRequestHeader(const RequestHeaderConfig& request_header) {
  const std::lock_guard lock(setting_);
  AuthenticationConfig config = Current()->config;
  config.request_header = request_header;
  return SetLocked(std::move(config));
}

Result<void> FrontProxy::SetClientCa(const std::string& client_ca_pem) {
  const std::lock_guard lock(setting_);
  AuthenticationConfig config = Current()->config;
  config.client_ca_pem = client_ca_pem;
  return SetLocked(std::move(config));
}

Result<void> FrontProxy::Set(const AuthenticationConfig& config) {
  const std::lock_guard lock(setting_);
  return SetLocked(config);
}

Result<void> FrontProxy::SetLocked(AuthenticationConfig config) {
  if (auto good = Check(config); !good) return good;
  auto proxies = MakeIfAny(config.request_header.ca_pem, "requestheader-client-ca-file");
  if (!proxies) return tl::unexpected(proxies.error());
  auto users = MakeIfAny(config.client_ca_pem, "client-ca-file");
  if (!users) return tl::unexpected(users.error());
  auto rules = std::make_shared<Rules>();
  rules->warnings = Warnings(config);
  rules->config = std::move(config);
  rules->proxies = *std::move(proxies);
  rules->users = *std::move(users);
  if (rules->warnings != Current()->warnings) {
    for (const std::string& warning : rules->warnings) Log(LogLevel::kWarn, warning);
  }
  const std::lock_guard lock(mutex_);
  rules_ = std::move(rules);
  return {};
}

Outcome FrontProxy::Authenticate(const HttpRequest& request) const {
  if (!request.peer_certificates || request.peer_certificates->empty()) {
    return Deny(AccessDenial::kNoCertificate,
                "no client certificate was shown: ask through kube-apiserver (kubectl get --raw), "
                "or show a certificate of the client CA");
  }
  const std::shared_ptr<const Rules> rules = Current();
  const TimePoint now = clock_.Now();
  Denied denied{AccessDenial::kUnknownAuthority,
                "the client certificate is of no authority that is known here"};
  bool unknown = true;
  const auto explain = [&](const CertificateFault& fault) {
    if (fault.kind == Kind::kUnknownAuthority) return;
    unknown = false;
    denied.message = "the client certificate " + fault.what;
  };

  if (rules->proxies) {
    const RequestHeaderConfig& config = rules->config.request_header;
    const auto proxy = rules->proxies->Judge(request.peer_certificates, now);
    if (!proxy) {
      explain(proxy.error());
    } else if (const std::string& name = (*proxy)->common_name;
               !config.allowed_names.empty() &&
               std::ranges::find(config.allowed_names, name) == config.allowed_names.end()) {
      unknown = false;
      denied = {AccessDenial::kNameNotAllowed, "the client certificate's common name \"" + name +
                                                   "\" is not among requestheader-allowed-names"};
    } else if (auto identity = ReadProxiedUser(config, request.headers)) {
      return *std::move(identity);
    } else {
      unknown = false;
      denied = {AccessDenial::kNoUser, "the front proxy \"" + name + "\" names no user: header " +
                                           config.username_headers.front() +
                                           " is missing or empty"};
    }
  }
  if (rules->users) {
    const auto user = rules->users->Judge(request.peer_certificates, now);
    if (user && !(*user)->common_name.empty()) {
      return Identity{.user = (*user)->common_name, .groups = (*user)->organisations};
    }
    if (user) {
      return Deny(AccessDenial::kNoUser,
                  "the client certificate names no user: its common name is empty");
    }
    if (denied.why == AccessDenial::kUnknownAuthority) explain(user.error());
  }
  if (unknown && on_unknown_authority_) on_unknown_authority_();
  return tl::unexpected<Denied>(std::move(denied));
}

}  // namespace tidemark::kubernetes
