#include <fmt/format.h>

#include <algorithm>

#include "cmd/doctor/checks.h"
#include "cmd/doctor/json_view.h"
#include "cmd/doctor/times.h"
#include "kubernetes/authentication_config_map.h"

namespace tidemark::doctor {
namespace {

constexpr int64_t kSoonMs = 14LL * 86'400'000;

void CheckAuthority(const Chain& authorities, int64_t now_ms, Findings& findings) {
  // Of several, those that ended were left there when the authority was replaced.
  int64_t until = 0;
  for (const std::string& der : authorities) {
    const auto facts = FactsOf(der);
    if (facts) until = std::max(until, facts->not_after_ms);
  }
  if (until < now_ms) {
    return findings.Problem(
        "front_proxy.authority",
        fmt::format("The authority of front proxies has ended on {}.", DayText(until)),
        "Renew it in the control plane (kubeadm certs, or the provider).");
  }
  if (until - now_ms < kSoonMs) {
    return findings.Warning(
        "front_proxy.authority",
        fmt::format("The authority of front proxies ends in {}.", DurationText(until - now_ms)),
        "Renew it in the control plane; Tidemark takes it over by itself.");
  }
  findings.Ok("front_proxy.authority",
              fmt::format("The authority of front proxies is valid until {}.", DayText(until)));
}

void CheckNames(const kubernetes::AuthenticationConfig& config, const Chain& proxies,
                Findings& findings) {
  const auto& names = config.request_header.allowed_names;
  const auto users = ReadPem(config.client_ca_pem);
  const bool common = users && HaveCommon(proxies, *users);
  if (common && names.empty()) {
    return findings.Problem(
        "front_proxy.names",
        "Front proxies and users have certificates of one authority, and any name is allowed: "
        "every user of the cluster can ask Tidemark in the name of every other one.",
        "Start kube-apiserver with --requestheader-allowed-names, and better with an authority of "
        "its own for front proxies.");
  }
  if (common) {
    return findings.Warning(
        "front_proxy.names",
        fmt::format("Front proxies and users have certificates of one authority: whoever gets one "
                    "for {} can speak for anybody.",
                    fmt::join(names, ", ")),
        "Give front proxies an authority of their own (--requestheader-client-ca-file).");
  }
  if (names.empty()) {
    return findings.Ok("front_proxy.names",
                       "Front proxies are known by an authority of their own, whatever their "
                       "name.");
  }
  findings.Ok("front_proxy.names", fmt::format("Front proxies are known by an authority of their "
                                               "own and the names {}.",
                                               fmt::join(names, ", ")));
}

}  // namespace

Findings CheckFrontProxy(const Installation& installation) {
  Findings findings;
  if (installation.kubernetes == nullptr) {
    findings.Skipped("front_proxy.config_map", std::string(kNotAsked));
    return findings;
  }
  const Reply reply =
      installation.kubernetes->Get(std::string(kubernetes::kAuthenticationConfigMapPath));
  if (reply.status == 404) {
    findings.Problem("front_proxy.config_map",
                     "The ConfigMap kube-system/extension-apiserver-authentication does not "
                     "exist: kube-apiserver has not written it.",
                     "Give Tidemark --kubernetes.requestheader-client-ca-file and "
                     "--kubernetes.requestheader-allowed-names.");
    return findings;
  }
  if (!reply.good()) {
    findings.Skipped(
        "front_proxy.config_map",
        WhyNotRead(reply.status, reply.trouble, "kube-system/extension-apiserver-authentication"),
        "Tidemark itself needs a RoleBinding in kube-system to the Role "
        "extension-apiserver-authentication-reader.");
    return findings;
  }
  auto config = kubernetes::ParseAuthenticationConfigMap(reply.body, true);
  // Whether users' certificates can be read does not matter for front proxies.
  if (!config) config = kubernetes::ParseAuthenticationConfigMap(reply.body, false);
  if (!config) {
    findings.Problem("front_proxy.config_map",
                     fmt::format("Front proxies cannot be known: {}.", config.error().message),
                     "Mend the flags of kube-apiserver (--requestheader-*), or give Tidemark the "
                     "authority in a file.");
    return findings;
  }
  const auto proxies = ReadPem(config->request_header.ca_pem);
  if (!proxies) {
    findings.Problem(
        "front_proxy.config_map",
        fmt::format("The authority of front proxies cannot be read: {}.", proxies.error().message),
        "Mend --requestheader-client-ca-file of kube-apiserver.");
    return findings;
  }
  findings.Ok("front_proxy.config_map",
              "kube-system/extension-apiserver-authentication says who front proxies are.");
  CheckAuthority(*proxies, installation.now_ms, findings);
  CheckNames(*config, *proxies, findings);
  return findings;
}

}  // namespace tidemark::doctor
