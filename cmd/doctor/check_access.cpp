#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cmd/doctor/access_review.h"
#include "cmd/doctor/checks.h"
#include "cmd/doctor/json_view.h"

namespace tidemark::doctor {
namespace {

namespace json = boost::json;

std::string WhyNotAsked(const AccessReply& reply) {
  return reply.status == 403
             ? "whoever asks may not create subjectaccessreviews in authorization.k8s.io (403)"
             : reply.trouble;
}

/// GET of a metric without a name is a "list" for RBAC (k8s.io/apiserver, requestinfo.go).
AccessQuestion ToReadMetrics(AccessQuestion who) {
  who.verb = "list";
  who.group = "external.metrics.k8s.io";
  who.resource = "tidemark_target_replicas";
  return who;
}

void CheckController(Asker& kubernetes, Findings& findings) {
  const AccessReply own = Review(
      kubernetes, ToReadMetrics(AsServiceAccount("kube-system", "horizontal-pod-autoscaler")));
  if (!own.trouble.empty()) return findings.Skipped("rbac.autoscaler", WhyNotAsked(own));
  // Without --use-service-account-credentials the controllers ask as their manager.
  const AccessReply manager =
      Review(kubernetes, ToReadMetrics({.user = "system:kube-controller-manager",
                                        .groups = {"system:authenticated"},
                                        .verb = {},
                                        .group = {},
                                        .resource = {}}));
  if (own.allowed || manager.allowed) {
    return findings.Ok("rbac.autoscaler", "The HPA controller may read external metrics.");
  }
  findings.Problem("rbac.autoscaler",
                   "The HPA controller may not read external metrics: every HPA on them fails with "
                   "\"forbidden\".",
                   "Bind a ClusterRole with get and list on external.metrics.k8s.io/* to the "
                   "service account kube-system/horizontal-pod-autoscaler.");
}

void CheckOwn(Asker& kubernetes, const ServiceName& service, Findings& findings) {
  AccessQuestion question = AsServiceAccount(service.name_space, service.name);
  question.verb = "get";
  question.resource = "configmaps";
  question.name_space = "kube-system";
  question.name = "extension-apiserver-authentication";
  const AccessReply reply = Review(kubernetes, question);
  if (!reply.trouble.empty()) return findings.Skipped("rbac.config_map", WhyNotAsked(reply));
  if (reply.allowed) {
    return findings.Ok(
        "rbac.config_map",
        fmt::format("The service account {} may read who front proxies are.", service.Text()));
  }
  findings.Warning(
      "rbac.config_map",
      fmt::format("The service account {} may not read who front proxies are.", service.Text()),
      "Add a RoleBinding in kube-system to the Role extension-apiserver-authentication-reader; not "
      "needed with --kubernetes.requestheader-client-ca-file or another account.");
}

}  // namespace

AccessQuestion AsServiceAccount(const std::string& name_space, const std::string& name) {
  AccessQuestion question;
  question.user = fmt::format("system:serviceaccount:{}:{}", name_space, name);
  question.groups = {"system:serviceaccounts", "system:serviceaccounts:" + name_space,
                     "system:authenticated"};
  return question;
}

AccessReply Review(Asker& kubernetes, const AccessQuestion& question) {
  json::object attributes = {{"verb", question.verb},
                             {"group", question.group},
                             {"resource", question.resource},
                             {"namespace", question.name_space}};
  if (!question.name.empty()) attributes["name"] = question.name;
  json::object spec;
  spec["user"] = question.user;
  spec["groups"] = json::array(question.groups.begin(), question.groups.end());
  spec["resourceAttributes"] = std::move(attributes);
  json::object review;
  review["apiVersion"] = "authorization.k8s.io/v1";
  review["kind"] = "SubjectAccessReview";
  review["spec"] = std::move(spec);
  const JsonReply reply =
      AskJson(kubernetes, {.method = "POST",
                           .path = "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                           .content_type = "application/json",
                           .body = json::serialize(review)});
  AccessReply out{.status = reply.status, .trouble = reply.trouble};
  if (!reply.good()) return out;
  if (At(reply.value, {"status", "allowed"}) == nullptr) {
    out.trouble = "the review was not answered";
    return out;
  }
  out.allowed = IsTrueAt(reply.value, {"status", "allowed"});
  return out;
}

Findings CheckAccess(const Installation& installation) {
  Findings findings;
  if (installation.kubernetes == nullptr) {
    findings.Skipped("rbac.autoscaler", std::string(kNotAsked));
    return findings;
  }
  CheckController(*installation.kubernetes, findings);
  CheckOwn(*installation.kubernetes, installation.service, findings);
  return findings;
}

}  // namespace tidemark::doctor
