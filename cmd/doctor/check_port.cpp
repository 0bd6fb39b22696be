#include <fmt/format.h>

#include "cmd/doctor/checks.h"
#include "cmd/doctor/exposition_reader.h"

namespace tidemark::doctor {
namespace {

void CheckAuthentication(const std::string& metrics, double good, Findings& findings) {
  if (good == 1) {
    findings.Ok("port.authentication", "Tidemark knows who may ask on its Kubernetes port.");
  } else {
    findings.Problem(
        "port.authentication",
        "Tidemark could not read who front proxies and users are the last time: what it read "
        "before stays in force, and without any nobody is let in.",
        "Its log has the reason; in a cluster it is most often the RoleBinding to "
        "extension-apiserver-authentication-reader in kube-system.");
  }
  const auto certificate = MetricValue(metrics, "tidemark_kubernetes_certificate_good");
  if (!certificate) return;
  if (*certificate == 1) {
    findings.Ok("port.certificate", "The port's certificate files were good when last read.");
  } else {
    findings.Problem("port.certificate",
                     "The port's certificate files were changed to what cannot be used: the "
                     "certificate before is served, until it ends.",
                     "Mend --kubernetes.tls-cert-file and --kubernetes.tls-private-key-file; they "
                     "are read again by themselves.");
  }
}

void CheckAnswers(const std::string& metrics, Findings& findings) {
  auto answers = MetricByLabel(metrics, "tidemark_kubernetes_metric_answers_total", "outcome");
  if (answers["ambiguous"] > 0) {
    findings.Warning("port.ambiguous",
                     fmt::format("{:.0f} requests since the start meant more than one workload and "
                                 "were refused: an HPA would have added them up.",
                                 answers["ambiguous"]),
                     "Give the HPA a selector with workload and workload_type.");
  }
  auto admissions = MetricByLabel(metrics, "tidemark_kubernetes_admissions_total", "outcome");
  const double trouble = admissions["failed"] + admissions["bad"];
  if (trouble > 0) {
    findings.Warning(
        "port.admissions",
        fmt::format("{:.0f} pods since the start were let in as they were, since their "
                    "review could not be read or worked on.",
                    trouble),
        "The log has the reason; reviews must come from kube-apiserver, in "
        "admission.k8s.io/v1.");
  }
}

}  // namespace

Findings CheckPort(const Installation& installation) {
  Findings findings;
  if (installation.tidemark == nullptr) {
    findings.Skipped("port.authentication", "no --tidemark.url was given");
    return findings;
  }
  const Reply metrics = installation.tidemark->Get("/metrics");
  if (!metrics.good()) {
    findings.Skipped("port.authentication", metrics.trouble);
    return findings;
  }
  const auto good = MetricValue(metrics.body, "tidemark_kubernetes_authentication_good");
  if (!good) {
    findings.Skipped("port.authentication",
                     "this Tidemark runs without --kubernetes.listen-address",
                     "Give it that where HPAs or the webhook are to ask it.");
    return findings;
  }
  CheckAuthentication(metrics.body, *good, findings);
  CheckAnswers(metrics.body, findings);
  return findings;
}

}  // namespace tidemark::doctor
