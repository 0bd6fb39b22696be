#include "model/revision_label.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

constexpr std::string_view kPrefix = "label_";
constexpr std::array<std::string_view, 11> kOfOneRevision = {
    "pod_template_hash",
    "controller_revision_hash",
    "pod_template_generation",
    "controller_uid",
    "job_name",
    "job_completion_index",
    "statefulset_kubernetes_io_pod_name",
    "apps_kubernetes_io_pod_index",
    "rollouts_pod_template_hash",
    "apps_kruise_io_cloneset_instance_id",
    "apps_kruise_io_pod_template_hash",
};
/// batch.kubernetes.io/job-name, controller-uid and their like.
constexpr std::string_view kOfOneJob = "batch_kubernetes_io_";

}  // namespace

bool IsRevisionLabel(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  return name.starts_with(kOfOneJob) ||
         std::ranges::find(kOfOneRevision, name) != kOfOneRevision.end();
}

}  // namespace tidemark
