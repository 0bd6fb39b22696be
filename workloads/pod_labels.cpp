#include "workloads/pod_labels.h"

#include <xxhash.h>

#include <string_view>

namespace tidemark::workloads {
namespace {

constexpr std::string_view kPrefix = "label_";

}  // namespace

PodLabels ReadPodLabels(LabelsView labels) {
  PodLabels read;
  std::string all;
  for (const LabelView& label : labels) {
    if (!label.name.starts_with(kPrefix)) continue;
    AppendLabelBytes(label, all);
    if (read.too_long || IsRevisionLabel(label.name)) continue;
    AppendLabelBytes(label, read.stable);
    if (read.stable.size() <= kMaxStableLabelBytes) continue;
    read.too_long = true;
    read.stable.clear();
  }
  read.set = XXH3_64bits(all.data(), all.size()) | 1;
  return read;
}

}  // namespace tidemark::workloads
