#include "model/near_miss.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace tidemark {
namespace {

constexpr size_t kMost = 5;
constexpr size_t kEdits = 2;
/// Names of Kubernetes end at 253; a longer one is no slip of the keyboard.
constexpr size_t kLongest = 253;

/// Whether `a` becomes `b` by at most kEdits insertions, removals or replacements (Levenshtein's
/// distance, one row at a time).
bool FewEdits(std::string_view a, std::string_view b) {
  const size_t longer = std::max(a.size(), b.size());
  if (longer > kLongest || longer - std::min(a.size(), b.size()) > kEdits) return false;
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()] <= kEdits;
}

bool Alike(std::string_view a, std::string_view b) {
  // Two edits make any two-letter name of any other.
  if (std::min(a.size(), b.size()) < 3) return false;
  return a.find(b) != std::string_view::npos || b.find(a) != std::string_view::npos ||
         FewEdits(a, b);
}

std::string Text(const WorkloadId& id) {
  std::string text = id.name_space + "/" + id.workload_type + "/" + id.workload;
  if (!id.cluster.empty()) text += " in cluster " + id.cluster;
  return text;
}

}  // namespace

std::vector<std::string> NearMisses(const Snapshot& snapshot, const WorkloadId& wanted) {
  std::vector<std::string> same_name;
  std::vector<std::string> alike;
  for (const auto& block : snapshot.blocks) {
    for (const WorkloadAdvice& workload : block->workloads) {
      if (workload.id == wanted) continue;  // came this very moment
      if (workload.id.workload == wanted.workload) {
        same_name.push_back(Text(workload.id));
        if (same_name.size() == kMost) return same_name;
      } else if (alike.size() < kMost && workload.id.name_space == wanted.name_space &&
                 Alike(workload.id.workload, wanted.workload)) {
        alike.push_back(Text(workload.id));
      }
    }
  }
  const size_t room = std::min(kMost - same_name.size(), alike.size());
  same_name.insert(same_name.end(), alike.begin(), alike.begin() + static_cast<ptrdiff_t>(room));
  return same_name;
}

}  // namespace tidemark
