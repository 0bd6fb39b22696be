#include "exporter/kubernetes_metrics.h"

#include "tests/catch.h"
#include "tests/exporter/page_parser.h"

using namespace tidemark;
using namespace tidemark::exporter;

TEST_CASE("what the Kubernetes port did comes out under its names", "[exporter][kubernetes]") {
  KubernetesCounters counters;
  HttpCounters http;
  for (size_t i = 0; i < kMetricAnswerCount; ++i) counters.metric_answers[i] = 10 + i;
  for (size_t i = 0; i < kAdmissionOutcomeCount; ++i) counters.admissions[i] = 20 + i;
  for (size_t i = 0; i < kAccessDenialCount; ++i) counters.denials[i] = 30 + i;
  counters.authentication_good_now = 0;
  http.requests_by_class[2] = 41;
  http.requests_by_class[5] = 42;
  http.tls_handshakes_failed = 43;
  http.web_config_good_now = 1;
  http.certificate_expiry_now_ms = 1'700'000'000'500;
  std::string text;
  ExpositionWriter writer(ExpositionFormat::kOpenMetrics, text);
  AppendKubernetesMetrics(counters, http, writer);
  writer.Finish();
  const auto page = ParsePage(text, ExpositionFormat::kOpenMetrics);
  const auto value = [&](std::string_view name,
                         const std::vector<std::pair<std::string, std::string>>& labels = {}) {
    return FindFamily(page, name).Value(labels);
  };
  CHECK(value("tidemark_kubernetes_metric_answers", {{"outcome", "served"}}) == 10);
  CHECK(value("tidemark_kubernetes_metric_answers", {{"outcome", "held"}}) == 11);
  CHECK(value("tidemark_kubernetes_metric_answers", {{"outcome", "too_old"}}) == 12);
  CHECK(value("tidemark_kubernetes_metric_answers", {{"outcome", "not_found"}}) == 13);
  CHECK(value("tidemark_kubernetes_metric_answers", {{"outcome", "ambiguous"}}) == 14);
  CHECK(value("tidemark_kubernetes_metric_answers", {{"outcome", "bad_request"}}) == 15);
  CHECK(value("tidemark_kubernetes_admissions", {{"outcome", "patched"}}) == 20);
  CHECK(value("tidemark_kubernetes_admissions", {{"outcome", "dry_run"}}) == 22);
  CHECK(value("tidemark_kubernetes_admissions", {{"outcome", "failed"}}) == 26);
  CHECK(value("tidemark_kubernetes_requests_denied", {{"reason", "no_certificate"}}) == 30);
  CHECK(value("tidemark_kubernetes_requests_denied", {{"reason", "no_user"}}) == 33);
  CHECK(value("tidemark_kubernetes_authentication_good") == 0);
  CHECK(value("tidemark_kubernetes_requests", {{"code_class", "2xx"}}) == 41);
  CHECK(value("tidemark_kubernetes_requests", {{"code_class", "5xx"}}) == 42);
  CHECK(value("tidemark_kubernetes_tls_handshakes_failed") == 43);
  CHECK(value("tidemark_kubernetes_certificate_good") == 1);
  CHECK(value("tidemark_kubernetes_certificate_expiry_timestamp_seconds") == 1'700'000'000.5);
}
