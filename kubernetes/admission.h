#pragma once
// The admission webhook: pods get their requests when they are created.

#include "kubernetes/routes.h"
#include "model/http.h"

namespace tidemark::kubernetes {

inline constexpr std::string_view kAdmissionPath = "/admission/pods";

/// POST /admission/pods: an AdmissionReview v1 in, one with the answer out. The pod is let in
/// whatever happens; it gets a JSON Patch where right-sizing is on for it (mode apply) and its plan
/// (rightsizing/pod_plan.h) has something to change. Mode dry-run says in warnings and audit
/// annotations what it would do. Only what cannot be answered so, because it is no JSON or its
/// request has no uid, gets 400 with a Status, which failurePolicy Ignore takes for letting it in.
///
/// Anybody may ask, for kube-apiserver shows webhooks no certificate: nothing changes by it, and
/// the answer has only the requests of the pod that was sent. From the Snapshot and the settings
/// alone, so within a millisecond or so; `?timeout=` does not matter. Thread-safe; does not throw.
HttpRoute AdmissionRoute(const Sources& sources);

}  // namespace tidemark::kubernetes
