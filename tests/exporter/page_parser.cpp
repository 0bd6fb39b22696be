#include "tests/exporter/page_parser.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "tests/catch.h"

namespace tidemark::exporter {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Line {
 public:
  explicit Line(std::string_view text) : text_(text), rest_(text) {}

  [[noreturn]] void Refuse(const std::string& why) const {
    throw std::runtime_error(why + " in: " + std::string(text_));
  }
  void Require(bool holds, const char* what) const {
    if (!holds) Refuse(std::string("expected ") + what);
  }
  bool Take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  std::string TakeName() {
    size_t end = 0;
    const auto is_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    while (end < rest_.size() && is_name(rest_[end])) ++end;
    Require(end > 0 && std::isdigit(static_cast<unsigned char>(rest_[0])) == 0, "a name");
    std::string name(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return name;
  }
  /// Up to an unescaped quote when `quoted`, else to the end of the line.
  std::string TakeEscaped(bool quoted, bool may_escape_quote) {
    std::string out;
    while (!rest_.empty() && !(quoted && rest_[0] == '"')) {
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\\') {
        Require(!rest_.empty(), "a character after a backslash");
        c = rest_[0];
        rest_.remove_prefix(1);
        Require(c == '\\' || c == 'n' || (c == '"' && may_escape_quote), "a known escape");
        if (c == 'n') c = '\n';
      } else {
        Require(c != '"' || !may_escape_quote, "an escaped quote");
      }
      out.push_back(c);
    }
    if (quoted) Require(Take("\""), "a closing quote");
    return out;
  }
  double TakeValue() {
    if (rest_ == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (rest_ == "+Inf") return std::numeric_limits<double>::infinity();
    if (rest_ == "-Inf") return -std::numeric_limits<double>::infinity();
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    Require(error == std::errc() && end == rest_.data() + rest_.size() && std::isfinite(value),
            "one number at the end");
    return value;
  }
  std::string_view TakeRest() { return std::exchange(rest_, {}); }

 private:
  std::string_view text_;
  std::string_view rest_;
};

Labels ParseLabels(Line& line) {
  Labels labels;
  if (!line.Take("{")) return labels;
  std::set<std::string> names;
  do {
    const std::string name = line.TakeName();
    line.Require(names.insert(name).second, "each label name once");
    line.Require(line.Take("=\""), "=\" after a label name");
    labels.emplace_back(name, line.TakeEscaped(true, true));
  } while (line.Take(","));
  line.Require(line.Take("}"), "} after the labels");
  return labels;
}

class Parser {
 public:
  explicit Parser(ExpositionFormat format)
      : openmetrics_(format == ExpositionFormat::kOpenMetrics) {}

  std::vector<ParsedFamily> Parse(std::string_view page) {
    bool ended = false;
    while (!page.empty()) {
      const size_t end = page.find('\n');
      if (end == std::string_view::npos) throw std::runtime_error("the last line has no newline");
      Line line(page.substr(0, end));
      page.remove_prefix(end + 1);
      line.Require(!ended, "nothing after # EOF");
      if (openmetrics_ && line.Take("# EOF")) {
        line.Require(line.TakeRest().empty(), "# EOF alone");
        ended = true;
      } else if (line.Take("# HELP ")) {
        ParseHelp(line);
      } else if (line.Take("# TYPE ")) {
        ParseType(line);
      } else if (line.Take("# UNIT ")) {
        ParseUnit(line);
      } else {
        ParseSample(line);
      }
    }
    if (openmetrics_ && !ended) throw std::runtime_error("no # EOF");
    for (const ParsedFamily& family : families_) {
      if (family.samples.empty()) throw std::runtime_error("no samples in " + family.name);
    }
    return std::move(families_);
  }

 private:
  void ParseHelp(Line& line) {
    ParsedFamily family;
    family.name = line.TakeName();
    line.Require(names_.insert(family.name).second, "each family once");
    line.Require(line.Take(" "), "a blank");
    family.help = line.TakeEscaped(false, openmetrics_);
    families_.push_back(std::move(family));
  }
  void ParseType(Line& line) {
    ParsedFamily& family = Current(line);
    line.Require(line.TakeName() == family.name && line.Take(" "), "TYPE of the family before");
    line.Require(family.type.empty(), "one TYPE");
    family.type = line.TakeRest();
    line.Require(family.type == "counter" || family.type == "gauge", "counter or gauge");
    line.Require((family.type == "counter" && !openmetrics_) == family.name.ends_with("_total"),
                 "_total on counters of the text format only");
  }
  void ParseUnit(Line& line) {
    ParsedFamily& family = Current(line);
    line.Require(openmetrics_, "no UNIT in the text format");
    line.Require(line.TakeName() == family.name && line.Take(" "), "UNIT of the family before");
    family.unit = line.TakeRest();
    line.Require(!family.unit.empty() && family.name.ends_with("_" + family.unit),
                 "the unit at the end of the name");
  }
  void ParseSample(Line& line) {
    ParsedFamily& family = Current(line);
    line.Require(!family.type.empty(), "TYPE before the samples");
    const bool suffix = openmetrics_ && family.type == "counter";
    line.Require(line.TakeName() == family.name + (suffix ? "_total" : ""),
                 "a sample of the family before");
    ParsedSample sample;
    sample.labels = ParseLabels(line);
    line.Require(series_.emplace(family.name, sample.labels).second, "each series once");
    line.Require(line.Take(" "), "a blank");
    sample.value = line.TakeValue();
    family.samples.push_back(std::move(sample));
  }
  ParsedFamily& Current(const Line& line) {
    line.Require(!families_.empty(), "HELP first");
    return families_.back();
  }

  bool openmetrics_;
  std::vector<ParsedFamily> families_;
  std::set<std::string> names_;
  std::set<std::pair<std::string, Labels>> series_;
};

}  // namespace

double ParsedFamily::Value(const Labels& labels) const {
  for (const ParsedSample& sample : samples) {
    if (sample.labels == labels) return sample.value;
  }
  FAIL("no such series in " << name);
  return 0;
}

std::vector<ParsedFamily> ParsePage(std::string_view page, ExpositionFormat format) {
  return Parser(format).Parse(page);
}

bool HasFamily(const std::vector<ParsedFamily>& page, std::string_view name) {
  for (const ParsedFamily& family : page) {
    if (family.name == name) return true;
  }
  return false;
}

const ParsedFamily& FindFamily(const std::vector<ParsedFamily>& page, std::string_view name) {
  for (const ParsedFamily& family : page) {
    if (family.name == name) return family;
  }
  throw std::runtime_error("no family " + std::string(name));
}

}  // namespace tidemark::exporter
