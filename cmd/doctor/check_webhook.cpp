#include <fmt/format.h>

#include "cmd/base64.h"
#include "cmd/doctor/checks.h"
#include "cmd/doctor/json_view.h"
#include "cmd/doctor/label_selector.h"
#include "cmd/doctor/webhooks.h"

namespace tidemark::doctor {
namespace {

namespace json = boost::json;

constexpr int64_t kMostSeconds = 5;

void CheckPolicy(const json::value& webhook, Findings& findings) {
  const std::string name = TextAt(webhook, {"name"});
  // v1: Fail where nothing is said.
  if (TextAt(webhook, {"failurePolicy"}) == "Ignore") {
    findings.Ok("webhook.failure_policy",
                fmt::format("{}: pods start without Tidemark too.", name));
  } else {
    findings.Problem(
        "webhook.failure_policy",
        fmt::format("{}: failurePolicy is Fail: while Tidemark is away no pod can be created.",
                    name),
        "Set failurePolicy: Ignore.");
  }
  const int64_t seconds = IntegerAt(webhook, {"timeoutSeconds"}).value_or(10);
  if (seconds > kMostSeconds) {
    findings.Warning(
        "webhook.timeout",
        fmt::format("{}: every new pod waits up to {} s when Tidemark hangs.", name, seconds),
        "Set timeoutSeconds: 2.");
  } else {
    findings.Ok("webhook.timeout", fmt::format("{}: {} s at most.", name, seconds));
  }
}

void CheckSelector(const Installation& installation, const json::value& webhook,
                   Findings& findings) {
  const std::string name = TextAt(webhook, {"name"});
  LabelMap labels = {{"kubernetes.io/metadata.name", "kube-system"}};
  const JsonReply reply = GetJson(*installation.kubernetes, "/api/v1/namespaces/kube-system");
  if (reply.good()) labels.merge(LabelsOf(MapAt(reply.value, {"metadata", "labels"})));
  if (!Matches(At(webhook, {"namespaceSelector"}), labels)) {
    return findings.Ok("webhook.selector", fmt::format("{}: kube-system is left out.", name));
  }
  findings.Problem(
      "webhook.selector",
      fmt::format("{}: it is asked for the pods of kube-system too, the cluster's own.", name),
      "Leave it out by namespaceSelector: kubernetes.io/metadata.name NotIn [kube-system, ...].");
}

void CheckBundle(const Installation& installation, const json::value& webhook, Findings& findings) {
  const std::string name = TextAt(webhook, {"name"});
  const std::string text = TextAt(webhook, {"clientConfig", "caBundle"});
  if (text.empty()) {
    return findings.Problem("webhook.ca_bundle",
                            fmt::format("{}: it has no caBundle, so Tidemark's certificate is not "
                                        "trusted and no pod is right-sized.",
                                        name),
                            "Set caBundle, e.g. by cert-manager.io/inject-ca-from.");
  }
  const auto pem = cmd::DecodeBase64(text);
  const auto bundle = pem ? ReadPem(*pem) : Fail(ErrorCode::kInvalidArgument, "it is no Base64");
  if (!bundle) {
    return findings.Problem(
        "webhook.ca_bundle",
        fmt::format("{}: its caBundle cannot be read: {}.", name, bundle.error().message),
        "Put the authority's certificate in it, PEM in Base64.");
  }
  if (!installation.served || !*installation.served) {
    return findings.Skipped("webhook.ca_bundle",
                            "the Kubernetes port was not reached to compare its certificate");
  }
  const std::string why = WhyNotTrusted(**installation.served, *bundle, installation.now_ms);
  if (why.empty()) {
    return findings.Ok("webhook.ca_bundle",
                       fmt::format("{}: the served certificate is of its caBundle.", name));
  }
  findings.Problem("webhook.ca_bundle",
                   fmt::format("{}: the served certificate is not of its caBundle ({}): no pod is "
                               "right-sized.",
                               name, why),
                   "Set caBundle to the authority of today.");
}

}  // namespace

Webhooks FindWebhooks(Asker& kubernetes, const ServiceName& service) {
  const ListReply list =
      ListAll(kubernetes, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations");
  Webhooks found{.status = list.status, .trouble = list.trouble};
  for (const json::value& configuration : list.items) {
    for (const json::value& webhook : ListAt(configuration, {"webhooks"})) {
      if (TextAt(webhook, {"clientConfig", "service", "namespace"}) == service.name_space &&
          TextAt(webhook, {"clientConfig", "service", "name"}) == service.name) {
        found.ours.push_back(webhook);
      }
    }
  }
  return found;
}

Findings CheckWebhook(const Installation& installation) {
  Findings findings;
  if (installation.kubernetes == nullptr) {
    findings.Skipped("webhook.configuration", std::string(kNotAsked));
    return findings;
  }
  const Webhooks webhooks = FindWebhooks(*installation.kubernetes, installation.service);
  if (!webhooks.trouble.empty()) {
    findings.Skipped("webhook.configuration",
                     WhyNotRead(webhooks.status, webhooks.trouble, "mutatingwebhookconfigurations"),
                     "It needs list on mutatingwebhookconfigurations.");
    return findings;
  }
  if (webhooks.ours.empty()) {
    findings.Ok("webhook.configuration", "No webhook calls Tidemark: pods are left as they are.");
    return findings;
  }
  for (const json::value& webhook : webhooks.ours) {
    CheckPolicy(webhook, findings);
    CheckBundle(installation, webhook, findings);
    CheckSelector(installation, webhook, findings);
  }
  return findings;
}

}  // namespace tidemark::doctor
