#include "workloads/pod_labels.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark::workloads {
namespace {

constexpr std::string_view kPrefix = "label_";
/// Written by Kubernetes' own controllers, Argo Rollouts and OpenKruise.
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

bool ChangesWithRevision(std::string_view name) {
  name.remove_prefix(kPrefix.size());
  return name.starts_with(kOfOneJob) ||
         std::find(kOfOneRevision.begin(), kOfOneRevision.end(), name) != kOfOneRevision.end();
}

}  // namespace

PodLabels ReadPodLabels(LabelsView labels) {
  PodLabels read;
  std::string all;
  for (const LabelView& label : labels) {
    if (!label.name.starts_with(kPrefix)) continue;
    AppendLabelBytes(label, all);
    if (read.too_long || ChangesWithRevision(label.name)) continue;
    AppendLabelBytes(label, read.stable);
    if (read.stable.size() <= kMaxStableLabelBytes) continue;
    read.too_long = true;
    read.stable.clear();
  }
  read.set = XXH3_64bits(all.data(), all.size()) | 1;
  return read;
}

}  // namespace tidemark::workloads
