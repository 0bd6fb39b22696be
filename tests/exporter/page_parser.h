#pragma once
// A strict reader of exposition pages, so that a page is judged by what a scraper would get from
// it. Refuses whatever we do not mean to write, also where the formats would allow it (time stamps,
// unknown escapes, split families).

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exporter/exposition.h"

namespace tidemark::exporter {

struct ParsedSample {
  std::vector<std::pair<std::string, std::string>> labels;  ///< in the order of the page
  double value = 0;
};

struct ParsedFamily {
  std::string name;  ///< as on the HELP and TYPE lines
  std::string help;
  std::string type;
  std::string unit;
  std::vector<ParsedSample> samples;

  /// The value of the sample with exactly these labels in this order; fails the test when there is
  /// none.
  double Value(const std::vector<std::pair<std::string, std::string>>& labels = {}) const;
};

/// Throws std::runtime_error with the line that is wrong.
std::vector<ParsedFamily> ParsePage(std::string_view page, ExpositionFormat format);

/// The family of that name; fails the test when there is none.
const ParsedFamily& FindFamily(const std::vector<ParsedFamily>& page, std::string_view name);
bool HasFamily(const std::vector<ParsedFamily>& page, std::string_view name);

}  // namespace tidemark::exporter
