#pragma once
// manifest.csv: what is known of the traces of a folder besides their samples.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/replay_requests/trace.h"
#include "model/result.h"

namespace tidemark::replay_requests {

struct ManifestLine {
  std::string file;  ///< a name without folders
  std::string kind;
  bool real = true;
  ByResource<std::optional<double>> original;
  /// How many pods at 100 % of their request a value of 1 keeps busy; of traces of demand.
  std::optional<double> pods_per_unit;
};

/// Total, as ParseTraceCsv. At most kMaxManifestLines.
Result<std::vector<ManifestLine>> ParseManifest(std::string_view text,
                                                const std::string& file_name);
inline constexpr size_t kMaxManifestLines = 10'000;

}  // namespace tidemark::replay_requests
