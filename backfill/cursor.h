#pragma once
// How far a back-fill is, as it is committed with each merge. No secrets in it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backfill/options.h"
#include "backfill/plan.h"
#include "model/past.h"
#include "model/result.h"

namespace tidemark::backfill {

struct Cursor {
  std::string url;
  TimeGrid grid;
  LabelPairs external_labels;
  bool from_config = false;      ///< asked for by the configuration, whose credentials it uses
  bool had_credentials = false;  ///< came with credentials of its own, which are not kept
  bool finished = false;
  std::optional<NamespaceName> last;  ///< up to here, in order of names, all is merged
  uint64_t namespaces_done = 0;
  uint64_t namespaces_total = 0;
  uint64_t containers = 0;
  uint64_t minutes = 0;
  uint64_t samples = 0;
  uint64_t not_covered_total = 0;
  std::vector<std::string> not_covered;  ///< the first kMaxNotCovered
};

inline constexpr size_t kMaxNotCovered = 50;
inline constexpr size_t kMaxNotCoveredBytes = 600;  ///< of one line
/// A URL and labels beyond it are refused before a job begins, so that a cursor stays under 64 KiB.
inline constexpr size_t kMaxJobTextBytes = size_t{8} << 10;

std::string EncodeCursor(const Cursor& cursor);
/// kInvalidArgument: it is damaged, or of a version that is not known.
Result<Cursor> DecodeCursor(std::string_view bytes);

}  // namespace tidemark::backfill
