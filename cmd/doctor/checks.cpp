#include "cmd/doctor/checks.h"

#include <fmt/format.h>

namespace tidemark::doctor {

Findings CheckAll(const Installation& installation) {
  Findings all;
  for (const auto check : {CheckTidemark, CheckStream, CheckLabels, CheckPort, CheckCertificate}) {
    all.Append(check(installation));
  }
  const Findings kubernetes = CheckKubernetes(installation);
  all.Append(kubernetes);
  // One that does not answer is told once, and not waited for again and again.
  Installation rest = installation;
  if (kubernetes.Count(Verdict::kProblem) > 0) rest.kubernetes = nullptr;
  for (const auto check :
       {CheckApiService, CheckFrontProxy, CheckWebhook, CheckAutoscalers, CheckAccess}) {
    all.Append(check(rest));
  }
  return all;
}

std::string WhyNotRead(unsigned status, const std::string& trouble, const std::string& what) {
  if (status == 401) return "the Kubernetes API does not take these credentials";
  if (status == 403) return fmt::format("whoever asks may not read {} (403)", what);
  return trouble;
}

}  // namespace tidemark::doctor
