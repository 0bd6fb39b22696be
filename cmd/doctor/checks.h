#pragma once
// The checks, one per file. Each asks what it needs of the installation, and says what it has
// found; what cannot be looked at is skipped with the reason. None throws, whatever is answered.

#include <string>
#include <string_view>

#include "cmd/doctor/finding.h"
#include "cmd/doctor/installation.h"

namespace tidemark::doctor {

/// tidemark.*: reachable, ready, which version, whether its configuration is the one in the file.
Findings CheckTidemark(const Installation& installation);
/// stream.*: which series are missing, how old the newest are, what was ignored and refused.
Findings CheckStream(const Installation& installation);
/// labels.*: labels that a scrape has moved aside, in the Prometheus that scrapes Tidemark.
Findings CheckLabels(const Installation& installation);
/// port.*: what Tidemark says of its Kubernetes port.
Findings CheckPort(const Installation& installation);
/// certificate.*: what the Kubernetes port shows.
Findings CheckCertificate(const Installation& installation);
/// kubernetes.*: whether the API answers, and its version.
Findings CheckKubernetes(const Installation& installation);
/// apiservice.*: who serves external.metrics.k8s.io, whether it is available and why not.
Findings CheckApiService(const Installation& installation);
/// front_proxy.*: what front proxies are judged by.
Findings CheckFrontProxy(const Installation& installation);
/// webhook.*: whether the mutating webhook can do harm.
Findings CheckWebhook(const Installation& installation);
/// autoscalers.*: HorizontalPodAutoscalers that go by Tidemark, or that corrected requests upset.
Findings CheckAutoscalers(const Installation& installation);
/// rbac.*: whether the HPA controller may read the metrics.
Findings CheckAccess(const Installation& installation);

/// All of them, in this order.
Findings CheckAll(const Installation& installation);

/// For Skipped where nobody can be asked; kubernetes.version has the reason.
inline constexpr std::string_view kNotAsked =
    "the Kubernetes API is not asked: see kubernetes.version";
/// Why `status` of the Kubernetes API keeps a check from its answer ("the API server does not allow
/// …"); for Skipped.
std::string WhyNotRead(unsigned status, const std::string& trouble, const std::string& what);

}  // namespace tidemark::doctor
