#pragma once
// AdmissionReview v1 (admission.k8s.io), as kube-apiserver posts it to a webhook.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "rightsizing/pod_owner.h"
#include "rightsizing/pod_plan.h"

namespace tidemark::kubernetes {

/// kube-apiserver sends no object above 3 MB; with the old one and options there is room.
inline constexpr size_t kMaxReviewBytes = 5 * 1024 * 1024;

/// A pod about to be created, and what a JSON Patch of it has to know.
struct ReviewedPod {
  /// Where a container stands and which parents of its requests are there.
  struct Place {
    std::string pointer;  ///< RFC 6901: "/spec/containers/0"
    bool has_resources = false;
    bool has_requests = false;
  };

  std::optional<rightsizing::ControllerReference> controller;
  rightsizing::PodView view;  ///< of the workload only the namespace is known
  std::vector<Place> places;  ///< of view.containers
  bool has_annotations = false;
};

struct AdmissionReview {
  std::string uid;  ///< of the request; not empty
  /// Absent: nothing to correct, and `why_no_pod` says why: another kind of object, no CREATE, a
  /// subresource, or contents that are not a pod's.
  std::optional<ReviewedPod> pod;
  std::string why_no_pod;
};

/// Reads a body of any bytes. An error is what no AdmissionReview can answer: no JSON (at most
/// kMaxReviewBytes, nested at most 128 deep), or no request with a uid. Never throws; takes a few
/// times the body's memory, at most 64 MiB.
Result<AdmissionReview> ParseAdmissionReview(std::string_view body);

}  // namespace tidemark::kubernetes
