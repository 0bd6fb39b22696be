#include "cmd/doctor/checks.h"

#include <fmt/format.h>

namespace tidemark::doctor {

Findings CheckAll(const Installation& installation) {
  Findings all;
  for (const auto check :
       {CheckTidemark, CheckStream, CheckLabels, CheckCertificate, CheckKubernetes, CheckApiService,
        CheckFrontProxy, CheckWebhook, CheckAutoscalers, CheckAccess}) {
    all.Append(check(installation));
  }
  return all;
}

std::string WhyNotRead(unsigned status, const std::string& trouble, const std::string& what) {
  if (status == 401) return "the Kubernetes API does not take these credentials";
  if (status == 403) return fmt::format("whoever asks may not read {} (403)", what);
  return trouble;
}

}  // namespace tidemark::doctor
