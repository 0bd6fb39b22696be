#include "workloads/identity.h"

namespace tidemark::workloads {
namespace {

constexpr std::string_view kExportedPrefix = "exported_";

/// The value of `name`, of exported_`name` where that exists, else of `old_name`.
std::string_view Value(LabelsView labels, std::string_view name, std::string_view old_name,
                       bool& from_exported) {
  std::string_view plain;
  std::string_view old;
  for (const LabelView& label : labels) {
    if (label.name.size() == kExportedPrefix.size() + name.size() &&
        label.name.starts_with(kExportedPrefix) && label.name.ends_with(name)) {
      from_exported = true;
      return label.value;  // sorts before both others or not: it wins anyway
    }
    if (label.name == name) plain = label.value;
    if (!old_name.empty() && label.name == old_name) old = label.value;
  }
  return plain.empty() ? old : plain;
}

}  // namespace

std::optional<SeriesIdentity> Identify(const Source& source, LabelsView labels) {
  SeriesIdentity identity;
  const IdentityLabels& names = source.labels;
  if (!names.cluster.empty()) identity.cluster = FindLabel(labels, names.cluster);
  if (!names.name_space.empty()) {
    identity.name_space = Value(labels, names.name_space, {}, identity.from_exported);
    if (identity.name_space.empty() && source.role != Role::kNodeAllocatable) return std::nullopt;
  }
  if (!names.pod.empty()) {
    identity.pod =
        Value(labels, names.pod, names.pod == "pod" ? "pod_name" : "", identity.from_exported);
    if (identity.pod.empty()) return std::nullopt;
  }
  if (!names.container.empty()) {
    identity.container =
        Value(labels, names.container, names.container == "container" ? "container_name" : "",
              identity.from_exported);
    if (identity.container.empty() || identity.container == "POD") return std::nullopt;
  }
  if (!names.workload.empty()) {
    identity.workload = FindLabel(labels, names.workload);
    if (identity.workload.empty()) return std::nullopt;
  }
  return identity;
}

}  // namespace tidemark::workloads
