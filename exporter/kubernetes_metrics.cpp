#include "exporter/kubernetes_metrics.h"

#include <array>
#include <string>
#include <string_view>

namespace tidemark::exporter {
namespace {

constexpr std::array<std::string_view, kMetricAnswerCount> kAnswers = {
    "served", "held", "too_old", "not_found", "ambiguous", "bad_request"};
constexpr std::array<std::string_view, kAdmissionOutcomeCount> kOutcomes = {
    "patched", "unchanged", "dry_run", "off", "unknown", "bad", "failed"};
constexpr std::array<std::string_view, kAccessDenialCount> kDenials = {
    "no_certificate", "unknown_authority", "name_not_allowed", "no_user"};

template <size_t kSize>
void WriteCounters(const FamilyHeader& header, std::string_view label,
                   const std::array<std::string_view, kSize>& names,
                   const std::array<Counter, kSize>& counters, ExpositionWriter& writer) {
  writer.BeginFamily(header);
  for (size_t i = 0; i < kSize; ++i) {
    writer.Sample(std::array<LabelView, 1>{{{label, names[i]}}},
                  static_cast<double>(counters[i].load()));
  }
}

void Write(const FamilyHeader& header, double value, ExpositionWriter& writer) {
  writer.BeginFamily(header);
  writer.Sample({}, value);
}

void WriteServer(const HttpCounters& http, ExpositionWriter& writer) {
  writer.BeginFamily({"tidemark_kubernetes_requests_total",
                      "Requests to the Kubernetes port by class of status.",
                      MetricType::kCounter,
                      {}});
  for (size_t i = 1; i < http.requests_by_class.size(); ++i) {
    const std::string code_class = std::to_string(i) + "xx";
    writer.Sample(std::array<LabelView, 1>{{{"code_class", code_class}}},
                  static_cast<double>(http.requests_by_class[i].load()));
  }
  Write({"tidemark_kubernetes_tls_handshakes_failed_total",
         "Connections to the Kubernetes port that ended before TLS was agreed on.",
         MetricType::kCounter,
         {}},
        static_cast<double>(http.tls_handshakes_failed.load()), writer);
  Write({"tidemark_kubernetes_certificate_good",
         "Whether certificate and key of the Kubernetes port were good when last read.",
         MetricType::kGauge,
         {}},
        http.web_config_good_now.load() == 0 ? 0 : 1, writer);
  if (const int64_t expiry_ms = http.certificate_expiry_now_ms.load(); expiry_ms > 0) {
    Write({"tidemark_kubernetes_certificate_expiry_timestamp_seconds",
           "When the certificate of the Kubernetes port ends to be valid.", MetricType::kGauge,
           "seconds"},
          static_cast<double>(expiry_ms) / 1000, writer);
  }
}

}  // namespace

void AppendKubernetesMetrics(const KubernetesCounters& counters, const HttpCounters& http,
                             ExpositionWriter& writer) {
  WriteCounters({"tidemark_kubernetes_metric_answers_total",
                 "Answers to whoever asked for an external metric: served; held, the last value "
                 "while nothing newer comes; too_old, 503; not_found; ambiguous, more than one "
                 "value; bad_request.",
                 MetricType::kCounter,
                 {}},
                "outcome", kAnswers, counters.metric_answers, writer);
  WriteCounters({"tidemark_kubernetes_admissions_total",
                 "Pods that were shown to the admission webhook, all of which were let in: patched "
                 "or not, and why not.",
                 MetricType::kCounter,
                 {}},
                "outcome", kOutcomes, counters.admissions, writer);
  WriteCounters({"tidemark_kubernetes_requests_denied_total",
                 "Requests to the Kubernetes port of somebody who may not ask.",
                 MetricType::kCounter,
                 {}},
                "reason", kDenials, counters.denials, writer);
  Write({"tidemark_kubernetes_authentication_good",
         "Whether the CAs and names that callers are judged by could be read last time.",
         MetricType::kGauge,
         {}},
        counters.authentication_good_now.load() == 0 ? 0 : 1, writer);
  WriteServer(http, writer);
}

}  // namespace tidemark::exporter
