#include <fmt/format.h>

#include "cmd/doctor/checks.h"
#include "cmd/doctor/json_view.h"

namespace tidemark::doctor {

Findings CheckKubernetes(const Installation& installation) {
  Findings findings;
  if (installation.kubernetes == nullptr) {
    findings.Skipped("kubernetes.version", installation.why_no_kubernetes,
                     "Give --kubeconfig, or --kubernetes.server and --kubernetes.token-file.");
    return findings;
  }
  const JsonReply reply = GetJson(*installation.kubernetes, "/version");
  if (!reply.good()) {
    findings.Problem("kubernetes.version",
                     fmt::format("The Kubernetes API does not answer: {}.", reply.trouble),
                     "Check the context, the server's address and authority, and the credentials.");
    return findings;
  }
  const std::string version = TextAt(reply.value, {"gitVersion"});
  if (version.empty()) {
    findings.Problem("kubernetes.version", "What answers is no Kubernetes API.",
                     "Check the server's address.");
    return findings;
  }
  findings.Ok("kubernetes.version", fmt::format("Kubernetes {}.", version));
  return findings;
}

}  // namespace tidemark::doctor
