#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cmd/doctor/checks.h"
#include "cmd/doctor/cluster_version.h"
#include "cmd/doctor/json_view.h"
#include "cmd/doctor/label_selector.h"
#include "cmd/doctor/webhooks.h"
#include "model/quantity.h"

namespace tidemark::doctor {
namespace {

namespace json = boost::json;

constexpr std::string_view kTargetMetric = "tidemark_target_replicas";
/// From so many replicas on one more or less is within a tenth of them.
constexpr int64_t kDeadBandReplicas = 10;
/// One look at Tidemark for each; a cluster may have thousands.
constexpr int kMostAsked = 200;

/// What is wrong with some autoscalers in the same way: told once, with a few of their names.
class Cases {
 public:
  void Add(const std::string& name, const std::string& detail = "") {
    if (++count_ <= 3) {
      names_ += fmt::format("{}{}{}", names_.empty() ? "" : ", ", name,
                            detail.empty() ? "" : fmt::format(" ({})", detail));
    }
  }
  bool empty() const { return count_ == 0; }
  std::string Text() const {
    return count_ <= 3 ? names_ : fmt::format("{} and {} more", names_, count_ - 3);
  }

 private:
  size_t count_ = 0;
  std::string names_;
};

struct Seen {
  size_t all = 0;
  size_t ours = 0;
  int asked = 0;
  Cases wrong_target;
  Cases dead_band;
  Cases no_selector;
  Cases other_workload;
  Cases not_served;
  Cases by_utilization;
};

bool IsZero(const json::value* tolerance) {
  if (tolerance == nullptr) return false;
  if (tolerance->is_number()) return tolerance->to_number<double>() == 0;
  const json::string* const text = tolerance->if_string();
  return text != nullptr && ParseQuantity(std::string_view(text->data(), text->size())) == 0;
}

std::string NameOf(const json::value& autoscaler) {
  return TextAt(autoscaler, {"metadata", "namespace"}) + "/" +
         TextAt(autoscaler, {"metadata", "name"});
}

/// As one part of a path.
std::string Segment(const std::string& text) { return client::EncodeForm({{"", text}}).substr(1); }

/// Why Tidemark has no target for that workload; empty: it has, or is not known to have none.
std::string WhyNoTarget(Asker& tidemark, const std::string& name_space, const LabelMap& labels) {
  const auto workload = labels.find("workload");
  if (workload == labels.end()) return "";
  const JsonReply reply = GetJson(tidemark, "/api/v1/status/sources",
                                  {{"namespace", name_space}, {"workload", workload->second}});
  if (reply.status == 404) return "Tidemark knows no such workload";
  if (!reply.good()) return "";
  const auto type = labels.find("workload_type");
  for (const json::value& item : ListAt(reply.value, {"data", "workloads"})) {
    if (type != labels.end() && TextAt(item, {"workload_type"}) != type->second) continue;
    if (IsTrueAt(item, {"scaling", "has_target"})) return "";
    const std::string sentence = TextAt(item, {"scaling", "sentence"});
    return sentence.empty() ? "there is no target yet" : sentence;
  }
  return "Tidemark knows no such workload";
}

/// The same through kube-apiserver, as the HPA controller asks.
std::string WhyNotServed(Asker& kubernetes, const std::string& name_space,
                         const std::string& metric, const json::value& selector) {
  const std::string path = fmt::format("/apis/external.metrics.k8s.io/v1beta1/namespaces/{}/{}",
                                       Segment(name_space), Segment(metric));
  const JsonReply reply = GetJson(kubernetes, path, {{"labelSelector", SelectorText(selector)}});
  return reply.good() || reply.status == 403 ? "" : reply.trouble;
}

void LookAtExternal(const Installation& installation, const json::value& autoscaler,
                    const json::value& metric, Seen& seen) {
  const std::string name = NameOf(autoscaler);
  const json::value external = MapAt(metric, {"external"});
  const std::string type = TextAt(external, {"target", "type"});
  const std::string value = TextAt(external, {"target", "averageValue"});
  if (type != "AverageValue" || ParseQuantity(value) != 1) {
    seen.wrong_target.Add(name, type == "AverageValue" ? "averageValue " + value : type);
  }
  const int64_t most = std::max(IntegerAt(autoscaler, {"spec", "maxReplicas"}).value_or(1),
                                IntegerAt(autoscaler, {"status", "currentReplicas"}).value_or(0));
  const bool exact = IsZero(At(autoscaler, {"spec", "behavior", "scaleUp", "tolerance"})) &&
                     IsZero(At(autoscaler, {"spec", "behavior", "scaleDown", "tolerance"}));
  if (!exact && most >= kDeadBandReplicas) seen.dead_band.Add(name);

  const json::value selector = MapAt(external, {"metric", "selector"});
  const LabelMap labels = LabelsOf(MapAt(selector, {"matchLabels"}));
  if (SelectorText(selector).empty()) return seen.no_selector.Add(name);
  const auto workload = labels.find("workload");
  const std::string scaled = TextAt(autoscaler, {"spec", "scaleTargetRef", "name"});
  if (workload != labels.end() && workload->second != scaled) {
    seen.other_workload.Add(name, fmt::format("asks for {}, scales {}", workload->second, scaled));
  }
  if (++seen.asked > kMostAsked) return;
  const std::string name_space = TextAt(autoscaler, {"metadata", "namespace"});
  const std::string why = installation.tidemark != nullptr
                              ? WhyNoTarget(*installation.tidemark, name_space, labels)
                              : WhyNotServed(*installation.kubernetes, name_space,
                                             std::string(kTargetMetric), selector);
  if (!why.empty()) seen.not_served.Add(name, why);
}

void LookAt(const Installation& installation, const json::value& autoscaler, Seen& seen) {
  ++seen.all;
  bool ours = false;
  bool by_utilization = false;
  for (const json::value& metric : ListAt(autoscaler, {"spec", "metrics"})) {
    const std::string type = TextAt(metric, {"type"});
    if (type == "External") {
      const std::string name = TextAt(metric, {"external", "metric", "name"});
      ours = ours || name.starts_with("tidemark_");
      if (name == kTargetMetric) LookAtExternal(installation, autoscaler, metric, seen);
    } else if (type == "Resource" || type == "ContainerResource") {
      const std::string_view key = type == "Resource" ? "resource" : "containerResource";
      by_utilization = by_utilization || TextAt(metric, {key, "target", "type"}) == "Utilization";
    }
  }
  if (ours) ++seen.ours;
  if (by_utilization) seen.by_utilization.Add(NameOf(autoscaler));
}

std::string ToleranceAdvice(std::optional<int> minor) {
  if (minor && *minor >= 33) {
    return fmt::format(
        "Set behavior.scaleUp.tolerance and behavior.scaleDown.tolerance to \"0\"{}.",
        *minor < 35 ? " (in this version with the feature gate HPAConfigurableTolerance)" : "");
  }
  return "Kubernetes has a tolerance for each HPA from 1.33 on; before that, switch "
         "escape_dead_band "
         "on in scaling.workloads, or lower --horizontal-pod-autoscaler-tolerance.";
}

void Tell(const Installation& installation, const Seen& seen, Findings& findings) {
  findings.Ok("autoscalers.found",
              fmt::format("{} of {} HorizontalPodAutoscalers go by Tidemark's metrics.", seen.ours,
                          seen.all));
  if (!seen.wrong_target.empty()) {
    findings.Problem("autoscalers.target",
                     fmt::format("Not an average of 1 for each pod: {}: replicas will not be the "
                                 "target.",
                                 seen.wrong_target.Text()),
                     "Set target.type: AverageValue and averageValue: \"1\".");
  }
  if (!seen.no_selector.empty()) {
    findings.Problem(
        "autoscalers.selector",
        fmt::format("No selector says which workload is meant: {}.", seen.no_selector.Text()),
        "Set external.metric.selector.matchLabels: workload and workload_type.");
  }
  if (!seen.other_workload.empty()) {
    findings.Problem("autoscalers.workload",
                     fmt::format("The selector names another workload than the one that is scaled: "
                                 "{}.",
                                 seen.other_workload.Text()),
                     "Make workload the name in scaleTargetRef.");
  }
  if (!seen.not_served.empty()) {
    findings.Problem("autoscalers.served",
                     fmt::format("No target is served: {}.", seen.not_served.Text()),
                     "Ask /api/v1/status/sources?namespace=...&workload=... what is missing.");
  }
  if (!seen.dead_band.empty()) {
    findings.Warning(
        "autoscalers.tolerance",
        fmt::format("From ten replicas on, targets within a tenth of them are not followed: {}.",
                    seen.dead_band.Text()),
        ToleranceAdvice(MinorVersionOf(*installation.kubernetes)));
  }
}

}  // namespace

Findings CheckAutoscalers(const Installation& installation) {
  Findings findings;
  if (installation.kubernetes == nullptr) {
    findings.Skipped("autoscalers.found", std::string(kNotAsked));
    return findings;
  }
  const ListReply list =
      ListAll(*installation.kubernetes, "/apis/autoscaling/v2/horizontalpodautoscalers");
  if (!list.good()) {
    findings.Skipped("autoscalers.found",
                     WhyNotRead(list.status, list.trouble, "horizontalpodautoscalers"),
                     "It needs list on horizontalpodautoscalers of all namespaces.");
    return findings;
  }
  Seen seen;
  for (const json::value& autoscaler : list.items) LookAt(installation, autoscaler, seen);
  Tell(installation, seen, findings);
  if (!seen.by_utilization.empty() &&
      !FindWebhooks(*installation.kubernetes, installation.service).ours.empty()) {
    findings.Warning(
        "autoscalers.utilization",
        fmt::format("They scale on utilisation of requests, which right-sizing changes: {}.",
                    seen.by_utilization.Text()),
        "Set an absolute AverageValue, or the utilisation that keeps the scale point: Tidemark "
        "tells it for each workload (docs/scaling.md).");
  }
  return findings;
}

}  // namespace tidemark::doctor
