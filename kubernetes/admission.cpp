#include "kubernetes/admission.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kubernetes/admission_review.h"
#include "kubernetes/pod_patch.h"
#include "kubernetes/status.h"
#include "model/log.h"
#include "model/snapshot_lookup.h"
#include "rightsizing/pod_owner.h"
#include "rightsizing/pod_plan.h"

namespace tidemark::kubernetes {
namespace {

namespace json = boost::json;
using rightsizing::PodPlan;
using rightsizing::RequestChange;

/// What a request is answered with, beside that the pod is let in.
struct Verdict {
  AdmissionOutcome outcome = AdmissionOutcome::kUnchanged;
  std::string patch;  ///< JSON; empty: none
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> audit;
};

std::string_view NameOf(AdmissionOutcome outcome) {
  switch (outcome) {
    case AdmissionOutcome::kPatched: return "patched";
    case AdmissionOutcome::kUnchanged: return "unchanged";
    case AdmissionOutcome::kDryRun: return "dry-run";
    case AdmissionOutcome::kOff: return "off";
    case AdmissionOutcome::kUnknown: return "unknown";
    case AdmissionOutcome::kBad: return "bad";
    case AdmissionOutcome::kFailed: return "failed";
  }
  return "unknown";
}

/// At most `most` characters of printable ASCII: a warning travels in a header.
std::string OneLine(std::string text, size_t most) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  constexpr std::string_view kCut = "...";
  if (text.size() > most) text.replace(most - kCut.size(), std::string::npos, kCut);
  return text;
}

std::string Base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and a null, which OpenSSL adds
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

HttpResponse Answer(const std::string& uid, const Verdict& verdict) {
  json::object response;
  response["uid"] = uid;
  response["allowed"] = true;
  if (!verdict.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = Base64(verdict.patch);
  }
  if (!verdict.warnings.empty()) {
    json::array warnings;
    for (const std::string& warning : verdict.warnings) warnings.emplace_back(warning);
    response["warnings"] = std::move(warnings);
  }
  json::object audit;
  audit["outcome"] = NameOf(verdict.outcome);
  for (const auto& [key, value] : verdict.audit) audit[key] = value;
  response["auditAnnotations"] = std::move(audit);
  json::object review;
  review["kind"] = "AdmissionReview";
  review["apiVersion"] = "admission.k8s.io/v1";
  review["response"] = std::move(response);
  HttpResponse answer;
  answer.headers.push_back({"Content-Type", "application/json"});
  answer.body = json::serialize(review);
  return answer;
}

Verdict Left(AdmissionOutcome outcome, std::string reason) {
  constexpr size_t kMost = 256;
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.audit.emplace_back("reason", OneLine(std::move(reason), kMost));
  return verdict;
}

/// "app: cpu 2 -> 650m (candidate)".
std::string Summary(const RequestChange& change, const rightsizing::PodView& pod) {
  return fmt::format("{}: {} {} -> {} ({})", pod.containers[change.container].name, change.resource,
                     change.before.empty() ? "none" : change.before, change.after,
                     ToString(change.rule));
}

void Tell(const PodPlan& plan, const rightsizing::PodView& pod, bool dry_run, Verdict& verdict) {
  // kube-apiserver cuts warnings at 256 characters and all of them together at 4096.
  constexpr size_t kMostWarnings = 4;
  constexpr size_t kWarningLength = 120;
  constexpr size_t kAuditLength = 1024;
  const size_t count = plan.changes.size();
  const size_t told = count <= kMostWarnings ? count : kMostWarnings - 1;
  const std::string_view from = dry_run ? "tidemark (dry run): " : "tidemark: ";
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    const std::string summary = Summary(plan.changes[i], pod);
    if (i < told)
      verdict.warnings.push_back(OneLine(fmt::format("{}{}", from, summary), kWarningLength));
    if (all.size() < kAuditLength) all += (all.empty() ? "" : "; ") + summary;
  }
  if (told < count) verdict.warnings.push_back(fmt::format("{}and {} more", from, count - told));
  if (count > 0) verdict.audit.emplace_back("changes", OneLine(std::move(all), kAuditLength));
}

class Webhook {
 public:
  explicit Webhook(const Sources& sources) : sources_(sources) {}

  HttpResponse Handle(const HttpRequest& request) const {
    const auto review = ParseAdmissionReview(request.body);
    if (!review) {
      Count(AdmissionOutcome::kBad);
      LogOncePerMinute("admission body", LogLevel::kWarn, "admission request cannot be answered",
                       {{"reason", review.error().message}, {"peer", request.peer}});
      constexpr unsigned kBadRequest = 400;
      return StatusAnswer(kBadRequest, review.error().message);
    }
    const Verdict verdict = JudgedSafely(*review);
    Count(verdict.outcome);
    return Answer(review->uid, verdict);
  }

 private:
  void Count(AdmissionOutcome outcome) const {
    ++sources_.counters.admissions[static_cast<size_t>(outcome)];
  }

  Verdict JudgedSafely(const AdmissionReview& review) const {
    std::string what = "unknown";
    try {
      return Judged(review);
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {  // the pod is let in
    }
    LogOncePerMinute("admission failure", LogLevel::kError,
                     "a pod could not be judged and is left alone", {{"error", what}});
    return Left(AdmissionOutcome::kFailed, "an error of tidemark's; see its log");
  }

  Verdict Judged(const AdmissionReview& review) const {
    if (!review.pod) return Left(AdmissionOutcome::kBad, review.why_no_pod);
    if (!sources_.ready()) return Left(AdmissionOutcome::kUnknown, "tidemark is not ready yet");
    const auto snapshot = sources_.snapshots.Current();
    const auto settings = sources_.rightsizing();
    const auto profiles = sources_.profiles();
    if (!snapshot || !settings || !profiles) {
      return Left(AdmissionOutcome::kUnknown, "tidemark is not ready yet");
    }
    const auto cluster = ServedCluster(sources_.settings().cluster, *snapshot);
    if (!cluster) {
      LogOncePerMinute("admission cluster", LogLevel::kWarn,
                       "pods are left alone: several clusters are known, and "
                       "--kubernetes.cluster does not say whose they are");
      return Left(AdmissionOutcome::kUnknown, "which cluster asks is not known");
    }
    rightsizing::PodView pod = review.pod->view;
    pod.workload.cluster = *cluster;
    if (auto owner = rightsizing::WorkloadOf(review.pod->controller, pod.labels)) {
      pod.workload.workload_type = std::move(owner->first);
      pod.workload.workload = std::move(owner->second);
    }
    const RightsizingMode mode = ModeOf(pod, *settings);
    if (mode == RightsizingMode::kOff) {
      return Left(AdmissionOutcome::kOff, "right-sizing is off for it");
    }
    if (pod.workload.workload.empty() || pod.workload.name_space.empty()) {
      return Left(AdmissionOutcome::kUnknown, "whose pod it is is not known");
    }
    const NamespaceBlock* const block = FindNamespace(*snapshot, *cluster, pod.workload.name_space);
    const WorkloadAdvice* const advice =
        FindWorkload(block, pod.workload.workload_type, pod.workload.workload);
    return Of(*review.pod, pod, PlanPod(pod, {advice, block, *profiles, *settings}), mode,
              advice != nullptr);
  }

  static Verdict Of(const ReviewedPod& reviewed, const rightsizing::PodView& pod,
                    const PodPlan& plan, RightsizingMode mode, bool known) {
    if (!plan.why_not.empty()) return Left(AdmissionOutcome::kUnchanged, plan.why_not);
    if (plan.changes.empty() && !plan.original_annotation && !plan.applied_annotation) {
      return known ? Left(AdmissionOutcome::kUnchanged, "its requests are as they should be")
                   : Left(AdmissionOutcome::kUnknown, "nothing is known of its workload");
    }
    Verdict verdict;
    const bool dry_run = mode == RightsizingMode::kDryRun;
    verdict.outcome = dry_run ? AdmissionOutcome::kDryRun : AdmissionOutcome::kPatched;
    Tell(plan, pod, dry_run, verdict);
    if (!dry_run) verdict.patch = PodPatch(reviewed, plan);
    return verdict;
  }

  Sources sources_;
};

}  // namespace

HttpRoute AdmissionRoute(const Sources& sources) {
  HttpRoute route;
  route.path = kAdmissionPath;
  route.methods = {"POST"};
  route.handler = [webhook = std::make_shared<const Webhook>(sources)](const HttpRequest& request) {
    return webhook->Handle(request);
  };
  route.max_body_bytes = kMaxReviewBytes;
  route.complete = [](const HttpRequest&, HttpResponse& response) { MakeStatus(response); };
  route.overloaded = [](const HttpRequest&, OverloadCause) {
    constexpr unsigned kUnavailable = 503;
    return StatusAnswer(kUnavailable, "tidemark has no room for another request");
  };
  return route;
}

}  // namespace tidemark::kubernetes
