#pragma once
// A strict little reader of the text format 0.0.4, for tests: whatever it does not expect fails the
// test.

#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.h"

namespace tidemark::test {

struct ExposedSample {
  std::string name;
  std::map<std::string, std::string> labels;
  std::string series;  ///< name and labels as they stand on the page
  double value = 0;

  std::string Label(const std::string& label) const {
    const auto found = labels.find(label);
    return found == labels.end() ? "" : found->second;
  }
};

struct ExposedPage {
  std::vector<ExposedSample> samples;
  std::map<std::string, std::string> types;  ///< by name
};

/// As REQUIRE, without its cost: pages have a million characters.
inline void Demand(bool holds, std::string_view what, std::string_view where) {
  if (!holds) FAIL(what << ": " << where);
}

inline std::map<std::string, std::string> ParseExposedLabels(std::string_view text) {
  std::map<std::string, std::string> labels;
  size_t at = 0;
  while (at < text.size()) {
    const size_t equals = text.find("=\"", at);
    Demand(equals != std::string_view::npos, "a label without a quoted value", text);
    const std::string name(text.substr(at, equals - at));
    Demand(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos,
           "a strange label name", name);
    std::string value;
    for (at = equals + 2; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
      Demand(at < text.size(), "an escape without end", text);
      value.push_back(text[at - 1] == '\\' && text[at] == 'n' ? '\n' : text[at]);
    }
    Demand(at < text.size(), "a value without end", text);
    Demand(labels.emplace(name, value).second, "a label given twice", text);
    ++at;
    if (at < text.size()) Demand(text[at++] == ',', "no comma between labels", text);
  }
  return labels;
}

/// Demands HELP, TYPE and rows of each family in one piece, unique series and no timestamps.
inline ExposedPage ParseExposition(std::string_view text) {
  ExposedPage page;
  std::string family;
  std::string helped;
  std::set<std::string> seen;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    Demand(end != std::string_view::npos, "no newline at the end", text);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.substr(0, 7) == "# HELP ") {
      helped = line.substr(7, line.find(' ', 7) - 7);
      Demand(line.size() > 7 + helped.size() + 1, "HELP without text", line);
      continue;
    }
    if (line.substr(0, 7) == "# TYPE ") {
      const size_t space = line.find(' ', 7);
      family = line.substr(7, space - 7);
      const std::string type(line.substr(space + 1));
      Demand(family == helped, "TYPE without HELP", line);
      Demand(type == "counter" || type == "gauge", "a strange type", line);
      Demand(page.types.emplace(family, type).second, "a family in two pieces", line);
      continue;
    }
    const size_t open = line.find('{');
    const size_t close = line.rfind("} ");
    Demand(open < close && close != std::string_view::npos, "no labels", line);
    ExposedSample sample;
    sample.name = line.substr(0, open);
    Demand(sample.name == family, "a row outside its family", line);
    sample.labels = ParseExposedLabels(line.substr(open + 1, close - open - 1));
    sample.series = line.substr(0, close + 1);
    Demand(seen.insert(sample.series).second, "a series given twice", line);
    const std::string_view number = line.substr(close + 2);
    const auto [rest, error] =
        std::from_chars(number.data(), number.data() + number.size(), sample.value);
    Demand(error == std::errc() && rest == number.data() + number.size(), "no number", line);
    page.samples.push_back(std::move(sample));
  }
  return page;
}

}  // namespace tidemark::test
