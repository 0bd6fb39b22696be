#include <fmt/format.h>

#include "cmd/doctor/checks.h"
#include "cmd/doctor/times.h"

namespace tidemark::doctor {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kSoonMs = 14 * kDayMs;

void CheckNames(const Installation& installation, const Chain& chain, Findings& findings) {
  const std::string wanted = installation.service.DnsName();
  const auto facts = FactsOf(chain.front());
  if (!facts) return findings.Problem("certificate.names", facts.error().message + ".", "");
  if (IsFor(chain.front(), wanted)) {
    return findings.Ok("certificate.names", fmt::format("The certificate is for {}.", wanted));
  }
  findings.Problem(
      "certificate.names",
      fmt::format("The certificate is for {}, and the API server calls {}: it will not connect.",
                  facts->dns_names.empty() ? "no name (a common name alone does not count)"
                                           : fmt::format("{}", fmt::join(facts->dns_names, ", ")),
                  wanted),
      fmt::format("Have it made with the subject alternative name DNS:{}, or say which Service it "
                  "is by --service.",
                  wanted));
}

void CheckChain(const Installation& installation, const Chain& chain, Findings& findings) {
  if (installation.authorities.empty()) {
    return findings.Skipped("certificate.chain", "no --kubernetes.ca-file was given",
                            "Give the authority that stands in caBundle.");
  }
  const std::string why = WhyNotTrusted(chain, installation.authorities, installation.now_ms);
  if (why.empty()) {
    return findings.Ok("certificate.chain", "The certificate is of the authority that was given.");
  }
  findings.Problem(
      "certificate.chain",
      fmt::format("Whoever trusts the given authority refuses the certificate: {}.", why),
      "Serve the certificate together with those between it and the authority, or "
      "give the authority that has signed it.");
}

void CheckValidity(const Chain& chain, int64_t now_ms, Findings& findings) {
  const auto facts = FactsOf(chain.front());
  if (!facts) return;
  const std::string until = DayText(facts->not_after_ms);
  constexpr std::string_view kAdvice =
      "Renew it; Tidemark reads the files again by itself, without a restart.";
  if (now_ms > facts->not_after_ms) {
    return findings.Problem("certificate.validity",
                            fmt::format("The certificate has ended on {}.", until),
                            std::string(kAdvice));
  }
  if (now_ms < facts->not_before_ms) {
    return findings.Problem(
        "certificate.validity",
        fmt::format("The certificate is not valid before {}.", DayText(facts->not_before_ms)),
        "Look at the clocks of this machine and of who made it.");
  }
  if (facts->not_after_ms - now_ms < kSoonMs) {
    return findings.Warning("certificate.validity",
                            fmt::format("The certificate ends in {}, on {}.",
                                        DurationText(facts->not_after_ms - now_ms), until),
                            std::string(kAdvice));
  }
  findings.Ok("certificate.validity", fmt::format("The certificate is valid until {}.", until));
}

}  // namespace

Findings CheckCertificate(const Installation& installation) {
  Findings findings;
  if (!installation.served) {
    findings.Skipped("certificate.reachable", "no --kubernetes.url was given",
                     "Give the URL of Tidemark's Kubernetes port, e.g. "
                     "https://tidemark.tidemark.svc:443.");
    return findings;
  }
  if (!*installation.served) {
    findings.Problem("certificate.reachable",
                     fmt::format("Nobody shows a certificate on the Kubernetes port: {}.",
                                 installation.served->error().message),
                     "Start Tidemark with --kubernetes.listen-address and look whether a "
                     "NetworkPolicy lets you through.");
    return findings;
  }
  const Chain& chain = **installation.served;
  findings.Ok("certificate.reachable", "The Kubernetes port answers in TLS.");
  CheckChain(installation, chain, findings);
  CheckNames(installation, chain, findings);
  CheckValidity(chain, installation.now_ms, findings);
  return findings;
}

}  // namespace tidemark::doctor
