// What pods' labels and annotations say: by which labels profiles select, which label set VPA would
// keep apart, what the owner had requested.
#include <xxhash.h>

#include <algorithm>

#include "model/log.h"
#include "workloads/namespace_state.h"
#include "workloads/pod_labels.h"

namespace tidemark::workloads {
namespace {

constexpr std::string_view kOriginalResources = "annotation_tidemark_io_original_resources";

}  // namespace

void NamespaceState::BindLabels(uint32_t index, Pod& pod, LabelsView labels) {
  PodLabels read = ReadPodLabels(labels);
  Series& series = series_[index];
  series.part.hash = read.set;
  if (read.too_long) {
    context_.counters.pod_labels_too_long.fetch_add(1, std::memory_order_relaxed);
    LogOncePerMinute("pod_labels", LogLevel::kWarn,
                     "labels of a pod are too long, profiles cannot select by them",
                     {{"namespace", name_},
                      {"pod", pod.name},
                      {"allowed_bytes", std::to_string(kMaxStableLabelBytes)}});
  }
  if (!read.stable.empty()) {
    series.part.run = XXH3_64bits(read.stable.data(), read.stable.size()) | 1;
    SharedLabels& shared = label_texts_[series.part.run];
    if (shared.series++ == 0) shared.text = std::move(read.stable);
  }
  TakeLabels(index);
}

void NamespaceState::ForgetLabels(uint64_t text) {
  const auto found = label_texts_.find(text);
  if (found != label_texts_.end() && --found->second.series == 0) label_texts_.erase(found);
}

/// Labels that were said before, and then others, hold again once the others have ended or fallen
/// silent.
void NamespaceState::AdoptLabels(uint32_t index, int64_t time_ms) {
  const Pod& pod = *series_[index].pod;
  if (pod.label_series == index) return;
  if (pod.label_series != kNoSeries) {
    const Series& now = series_[pod.label_series];
    if (!now.stale && now.last_ms >= time_ms - kMaxGapMs) return;
  }
  TakeLabels(index);
}

void NamespaceState::TakeLabels(uint32_t index) {
  const Series& series = series_[index];
  Pod& pod = *series.pod;
  pod.label_series = index;
  if (pod.label_set != series.part.hash) {
    pod.label_set = series.part.hash;
    for (const auto& [name, container] : pod.containers) {
      context_.usage.SetLabelSet(container.index, pod.label_set);
    }
  }
  SetWorkloadLabels(*pod.workload, pod.first_ms, LabelText(series.part.run));
}

const std::string& NamespaceState::LabelText(uint64_t text) const {
  static const std::string kNone;
  const auto found = label_texts_.find(text);
  return found == label_texts_.end() ? kNone : found->second.text;
}

/// The pod counts for `to` now: so do its labels, if it is the newest.
void NamespaceState::SpreadLabels(const Pod& pod, const Workload& from, Workload& to) {
  if (pod.label_series != kNoSeries) {
    SetWorkloadLabels(to, pod.first_ms, LabelText(series_[pod.label_series].part.run));
  } else if (from.hidden && from.labels_from_ms != kNever) {
    SetWorkloadLabels(to, from.labels_from_ms, from.pod_labels);
  }
}

void NamespaceState::SetWorkloadLabels(Workload& workload, int64_t from_ms,
                                       const std::string& labels) {
  if (from_ms < workload.labels_from_ms) return;
  workload.labels_from_ms = from_ms;
  if (workload.pod_labels == labels) return;
  workload.pod_labels = labels;
  TellContainers(workload);
}

void NamespaceState::TellContainers(const Workload& workload) {
  for (const auto& [name, container] : workload.containers) {
    context_.usage.ContainerIs(container.index, {workload.id, name, workload.pod_labels});
  }
}

void NamespaceState::TellContainers() {
  for (const auto& [key, workload] : workloads_) TellContainers(*workload);
  for (const auto& [pod, workload] : hidden_) TellContainers(*workload);
  AdaptDemands();
  dirty_ = true;
}

void NamespaceState::BindOriginal(uint32_t index, Pod& pod, LabelsView labels) {
  auto requests = ParseOriginalRequests(FindLabel(labels, kOriginalResources));
  if (!requests) {
    context_.counters.original_requests_bad.fetch_add(1, std::memory_order_relaxed);
    LogOncePerMinute("original_resources", LogLevel::kWarn,
                     "the annotation tidemark.io/original-resources of a pod is ignored: it is no "
                     "JSON object of containers with Kubernetes quantities",
                     {{"namespace", name_}, {"pod", pod.name}});
    return;
  }
  pod.originals.emplace_back(index, std::move(*requests));
  series_[index].fact = &pod.original;
}

}  // namespace tidemark::workloads
