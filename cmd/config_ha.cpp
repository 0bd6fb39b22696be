#include "cmd/config_ha.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "cmd/text.h"
#include "model/label.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxLabels = 16;
constexpr auto kMinFailover = 1s;
constexpr auto kMaxFailover = 24h;
constexpr uint64_t kMaxClusters = 100'000;
constexpr uint64_t kMaxReplicas = 1000;

/// Names of labels, each once; any text that can be a label's name.
FieldReader LabelNames(std::vector<std::string>& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    auto items = value.ReadList(kMaxLabels);
    if (!items) return tl::unexpected(items.error());
    std::vector<std::string> names;
    for (const YamlValue& item : *items) {
      auto name = item.ReadText();
      if (!name) return tl::unexpected(name.error());
      if (name->empty()) return item.Wrong("it is empty, allowed: the name of a label");
      if (*name == kMetricNameLabel) {
        return item.Wrong("every series has it, allowed: the name of another label");
      }
      if (std::find(names.begin(), names.end(), *name) != names.end()) {
        return item.Wrong(
            fmt::format("{} stands here twice, allowed: each label once", Shown(*name)));
      }
      names.push_back(*std::move(name));
    }
    out = std::move(names);
    return {};
  };
}

std::string DumpNames(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) {
    if (out.size() > 1) out.append(", ");
    out.append(YamlQuoted(name));
  }
  return out.append("]");
}

}  // namespace

Result<void> ReadHa(const YamlValue& value, remote_write::HaOptions& out) {
  std::optional<YamlValue> last_names;  // of the two lists, the one that stands last
  const auto names = [&last_names](std::vector<std::string>& list) -> FieldReader {
    return [&last_names, read = LabelNames(list)](const YamlValue& field) {
      last_names = field;
      return read(field);
    };
  };
  uint64_t clusters = out.max_clusters;
  uint64_t replicas = out.max_replicas;
  auto done = value.ReadMap(
      {{"cluster_labels", names(out.cluster_labels)},
       {"replica_labels", names(out.replica_labels)},
       {"failover_timeout", Duration(out.failover_timeout_ms, kMinFailover, kMaxFailover)},
       {"max_clusters", WholeNumber(clusters, 1, kMaxClusters)},
       {"max_replicas", WholeNumber(replicas, 2, kMaxReplicas)}});
  if (!done) return done;
  out.max_clusters = clusters;
  out.max_replicas = replicas;
  for (const std::string& name : out.replica_labels) {
    if (std::find(out.cluster_labels.begin(), out.cluster_labels.end(), name) ==
        out.cluster_labels.end()) {
      continue;
    }
    return last_names->Wrong(
        fmt::format("{} is among both cluster_labels and replica_labels, allowed: in one of them",
                    Shown(name)));
  }
  return {};
}

std::string DumpHaAndLate(const remote_write::HaOptions& ha, bool refuse_late) {
  return fmt::format(
      "  late: {}\n  ha:\n    cluster_labels: {}\n    replica_labels: {}\n"
      "    failover_timeout: {}\n    max_clusters: {}\n    max_replicas: {}\n",
      refuse_late ? "refuse" : "ignore", DumpNames(ha.cluster_labels), DumpNames(ha.replica_labels),
      FormatDuration(std::chrono::milliseconds(ha.failover_timeout_ms)), ha.max_clusters,
      ha.max_replicas);
}

FieldReader LatePolicy(bool& refuse) {
  return [&refuse](const YamlValue& value) -> Result<void> {
    auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    if (*text != "ignore" && *text != "refuse") {
      return value.Wrong(fmt::format("there is no policy {}, allowed: ignore, refuse",
                                     Shown(*text, text->empty())));
    }
    refuse = *text == "refuse";
    return {};
  };
}

}  // namespace tidemark::cmd
