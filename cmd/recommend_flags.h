#pragma once
// The flags of `tidetool recommend`. docs/report.md describes them.

#include <cstddef>
#include <cstdint>
#include <string>

#include "backfill/options.h"
#include "cmd/command_line.h"
#include "cmd/config.h"
#include "cmd/report/order.h"
#include "cmd/report/report.h"
#include "cmd/report/writers.h"
#include "model/prices.h"
#include "model/result.h"

namespace tidemark::cmd {

enum class Color : uint8_t { kAuto, kAlways, kNever };
inline constexpr std::array<Color, 3> kAllColors = {Color::kAuto, Color::kAlways, Color::kNever};
/// "auto", "always", "never".
std::string_view ToString(Color color);

/// Everything that a run needs.
struct RecommendOrder {
  Config config;               ///< sources and profiles
  backfill::Options backfill;  ///< with the URL and who asks
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::string profiles;  ///< for people: "preset vpa", or the configuration's file
  report::Filter filter;
  Prices prices;
  report::SortBy sort = report::SortBy::kSeverity;
  size_t top = 0;  ///< 0: all
  report::Output output = report::Output::kTable;
  std::string output_file;  ///< empty: stdout
  Color color = Color::kAuto;
  bool progress = false;  ///< also where stderr is no terminal
};

CommandSpec RecommendSpec();

/// From a line that ParseCommandLine has read with RecommendSpec. Reads the configuration and looks
/// at files of secrets. `now_ms`: where the history ends when nothing is said. Errors name the
/// flag, or the place in the configuration.
Result<RecommendOrder> ReadRecommendFlags(const CommandLine& line, int64_t now_ms);

/// `a,b.*` → `(?:a)|(?:b.*)`: a list of regular expressions as one. Commas within brackets, braces
/// and parentheses, and behind a backslash, do not separate.
std::string OneOfPatterns(std::string_view list);

}  // namespace tidemark::cmd
