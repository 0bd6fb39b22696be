#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cmd/base64.h"
#include "cmd/doctor/api_service.h"
#include "cmd/doctor/checks.h"
#include "cmd/doctor/json_view.h"

namespace tidemark::doctor {
namespace {

namespace json = boost::json;

/// Reasons of the condition Available and what to do (kube-aggregator,
/// pkg/controllers/status/remote).
struct Reason {
  std::string_view reason;
  std::string_view meaning;
  std::string_view advice;
};
constexpr std::array<Reason, 7> kReasons = {{
    {"FailedDiscoveryCheck", "kube-apiserver cannot reach it, or does not trust its certificate",
     "Check caBundle and the certificate's names (above), the Service's targetPort, and whether a "
     "NetworkPolicy or firewall lets the control plane through."},
    {"MissingEndpoints", "no ready pod stands behind the Service",
     "See whether Tidemark's pod is ready and the Service's selector fits it."},
    {"EndpointsNotFound", "the Service has no endpoints",
     "See whether the Service has a selector and Tidemark's pod runs."},
    {"EndpointsAccessError", "kube-apiserver cannot read the endpoints",
     "Look at the state of the control plane."},
    {"ServiceNotFound", "the Service does not exist",
     "Create the Service, or say by --service which one it is and take the APIService again."},
    {"ServicePortError", "the Service does not have the port that is named",
     "Make spec.service.port one of the Service's ports."},
    {"ServiceAccessError", "kube-apiserver cannot read the Service",
     "Look at the state of the control plane."},
}};

void CheckAvailable(const json::value& object, Findings& findings) {
  for (const json::value& condition : ListAt(object, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) != "Available") continue;
    if (TextAt(condition, {"status"}) == "True") {
      return findings.Ok("apiservice.available", "kube-apiserver reaches it: Available is True.");
    }
    const std::string reason = TextAt(condition, {"reason"});
    const auto* const known = std::ranges::find(kReasons, reason, &Reason::reason);
    return findings.Problem(
        "apiservice.available",
        fmt::format("It is not available ({}{}{}): {}. Namespaces cannot be deleted meanwhile.",
                    reason, known == kReasons.end() ? "" : ": ",
                    known == kReasons.end() ? "" : known->meaning, TextAt(condition, {"message"})),
        std::string(known == kReasons.end() ? "The message says what kube-apiserver has tried."
                                            : known->advice));
  }
  findings.Warning("apiservice.available",
                   "kube-apiserver has not said yet whether it is available.",
                   "Ask again in half a minute.");
}

void CheckBundle(const Installation& installation, const json::value& object, Findings& findings) {
  const bool insecure = IsTrueAt(object, {"spec", "insecureSkipTLSVerify"});
  if (insecure) {
    return findings.Warning("apiservice.ca_bundle",
                            "kube-apiserver does not verify who answers "
                            "(insecureSkipTLSVerify): whoever can take the address decides how "
                            "many replicas run.",
                            "Set caBundle and take insecureSkipTLSVerify away.");
  }
  const std::string text = TextAt(object, {"spec", "caBundle"});
  if (text.empty()) {
    return findings.Warning(
        "apiservice.ca_bundle",
        "It has no caBundle: the certificate has to be of an authority of the control plane's own "
        "machine.",
        "Set caBundle, e.g. by cert-manager.io/inject-ca-from or by --take-apiservice with "
        "--kubernetes.ca-file.");
  }
  const auto pem = cmd::DecodeBase64(text);
  const auto bundle = pem ? ReadPem(*pem) : Fail(ErrorCode::kInvalidArgument, "it is no Base64");
  if (!bundle) {
    return findings.Problem("apiservice.ca_bundle",
                            fmt::format("Its caBundle cannot be read: {}.", bundle.error().message),
                            "Put the authority's certificate in it, PEM in Base64.");
  }
  if (!installation.served || !*installation.served) {
    return findings.Skipped("apiservice.ca_bundle",
                            "the Kubernetes port was not reached to compare its certificate");
  }
  const std::string why = WhyNotTrusted(**installation.served, *bundle, installation.now_ms);
  if (why.empty()) {
    return findings.Ok("apiservice.ca_bundle", "The served certificate is of its caBundle.");
  }
  findings.Problem("apiservice.ca_bundle",
                   fmt::format("The served certificate is not of its caBundle: {}.", why),
                   "Take the APIService again with the authority of today: --take-apiservice "
                   "--kubernetes.ca-file.");
}

bool HasOurMetric(const json::value& resource_list) {
  return std::ranges::any_of(ListAt(resource_list, {"resources"}), [](const json::value& one) {
    return TextAt(one, {"name"}) == "tidemark_target_replicas";
  });
}

void CheckAnswers(Asker& kubernetes, Findings& findings) {
  const JsonReply reply = GetJson(kubernetes, "/apis/external.metrics.k8s.io/v1beta1");
  if (reply.status == 403) {
    return findings.Skipped("apiservice.answers",
                            "whoever asks may not read external.metrics.k8s.io (403)");
  }
  if (!reply.good()) {
    return findings.Problem(
        "apiservice.answers",
        fmt::format("Asked through kube-apiserver it does not answer: {}.", reply.trouble),
        "See apiservice.available, and Tidemark's log for who is refused.");
  }
  if (HasOurMetric(reply.value)) {
    return findings.Ok("apiservice.answers",
                       "tidemark_target_replicas is there when kube-apiserver is asked.");
  }
  findings.Problem(
      "apiservice.answers",
      fmt::format("kube-apiserver lists {} external metrics, none of them Tidemark's: another "
                  "program answers.",
                  ListAt(reply.value, {"resources"}).size()),
      "See apiservice.owner, and whether the Service's selector chooses Tidemark's pod alone.");
}

/// ScaledObjects of KEDA with a trigger (metrics-api, prometheus) that names one of our metrics.
size_t CountScaledObjects(Asker& kubernetes) {
  const ListReply list = ListAll(kubernetes, "/apis/keda.sh/v1alpha1/scaledobjects");
  return static_cast<size_t>(std::ranges::count_if(list.items, [](const json::value& object) {
    return std::ranges::any_of(ListAt(object, {"spec", "triggers"}), [](const json::value& one) {
      return std::ranges::any_of(MapAt(one, {"metadata"}), [](const auto& member) {
        const json::string* const text = member.value().if_string();
        return text != nullptr && text->find("tidemark_") != json::string::npos;
      });
    });
  }));
}

/// Of somebody else's, which is as it should be where Tidemark's metrics go through it.
void TellForeign(Asker& kubernetes, const std::string& owner, Findings& findings) {
  if (HasOurMetric(GetJson(kubernetes, "/apis/external.metrics.k8s.io/v1beta1").value)) {
    return findings.Ok(
        "apiservice.owner",
        fmt::format("External metrics are served by {}, which passes Tidemark's on.", owner));
  }
  if (const size_t count = CountScaledObjects(kubernetes); count > 0) {
    return findings.Ok("apiservice.owner",
                       fmt::format("External metrics are served by {}, and ScaledObjects read "
                                   "Tidemark's: {}.",
                                   owner, count));
  }
  findings.Problem(
      "apiservice.owner",
      fmt::format("External metrics are served by {}: HorizontalPodAutoscalers do not see "
                  "Tidemark's.",
                  owner),
      "Only one program can serve them. Keep it, and let it read Tidemark's metrics from /metrics "
      "or Prometheus (KEDA's metrics-api or prometheus trigger, prometheus-adapter: files in "
      "deploy/); or, where nobody needs the other's metrics, take it over with --take-apiservice "
      "--force-take-apiservice.");
}

}  // namespace

Findings CheckApiService(const Installation& installation) {
  Findings findings;
  if (installation.kubernetes == nullptr) {
    findings.Skipped("apiservice.owner", std::string(kNotAsked));
    return findings;
  }
  const JsonReply reply =
      GetJson(*installation.kubernetes, fmt::format("{}/{}", kApiServicesPath, kApiServiceName));
  if (reply.status == 404) {
    findings.Problem("apiservice.owner",
                     "The APIService v1beta1.external.metrics.k8s.io does not exist: no "
                     "HorizontalPodAutoscaler can read external metrics.",
                     "Create it with --take-apiservice, or let KEDA or an adapter read Tidemark's "
                     "metrics (deploy/).");
    return findings;
  }
  if (!reply.good()) {
    findings.Skipped("apiservice.owner", WhyNotRead(reply.status, reply.trouble, "apiservices"),
                     "It needs get on apiservices in apiregistration.k8s.io.");
    return findings;
  }
  const auto owner = OwnerOf(reply.value, installation.service);
  if (!owner || !owner->ours) {
    TellForeign(*installation.kubernetes, owner ? owner->Text() : "kube-apiserver itself",
                findings);
    return findings;
  }
  findings.Ok("apiservice.owner",
              fmt::format("External metrics are served by the Service {}.", owner->service.Text()));
  CheckAvailable(reply.value, findings);
  CheckBundle(installation, reply.value, findings);
  CheckAnswers(*installation.kubernetes, findings);
  return findings;
}

}  // namespace tidemark::doctor
